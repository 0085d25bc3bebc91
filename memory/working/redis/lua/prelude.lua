-- Goes before every script. One user's session is six keys:
--   order    sorted set: serial numbers, which only grow; the order of the messages
--   bodies   hash: serial number -> message as JSON
--   heads    hash: serial number -> JSON list of the message's id and its marks, in the order they were set
--   ids      hash: message id -> its serial numbers, separated by spaces
--   by_mark  sorted set read by the alphabet: "<length of mark>:<mark>:<serial number>"
--   state    hash: schema, revision, next_serial, summary
-- ARGV[1] is the schema, ARGV[2] the seconds until everything expires or '', the rest belongs to the script.

local order, bodies, heads, ids, by_mark, state = unpack(KEYS)

local schema = redis.call('HGET', state, 'schema')
if schema and schema ~= ARGV[1] then
  return redis.error_reply('MNEMOSCOPE_SCHEMA ' .. schema)
end

local AT_ONCE = 1000 -- values that Lua can hand to one command

-- What a call says of the store: revision, size, summary.
local function head()
  return {
    redis.call('HGET', state, 'revision') or '0',
    redis.call('ZCARD', order),
    redis.call('HGET', state, 'summary') or '',
  }
end

-- To be called once by every script that has changed something.
local function commit()
  redis.call('HSETNX', state, 'schema', ARGV[1])
  local now = redis.call('TIME')
  if redis.call('HEXISTS', state, 'revision') == 0 then
    -- Counting on from the clock, no revision of a store that expired comes again.
    redis.call('HSET', state, 'revision', now[1] .. string.format('%06d', now[2]))
  else
    redis.call('HINCRBY', state, 'revision', 1)
  end
  if ARGV[2] ~= '' then
    -- One deadline for all: counted from the moment of each call, they would differ.
    local deadline = string.format('%.0f', (now[1] + ARGV[2]) * 1000 + math.floor(now[2] / 1000))
    for _, key in ipairs(KEYS) do
      redis.call('PEXPIREAT', key, deadline)
    end
  end
end

-- A list in ARGV, its length first; returns the list and the place after it.
local function list_at(place)
  local list = {}
  for offset = 1, tonumber(ARGV[place]) do
    list[offset] = ARGV[place + offset]
  end
  return list, place + #list + 1
end

local function set_of(list)
  local set = {}
  for _, value in ipairs(list) do
    set[value] = true
  end
  return set
end

-- `first` followed by `second`, each value once.
local function joined(first, second)
  local all, has = {}, {}
  for _, list in ipairs({ first, second }) do
    for _, value in ipairs(list) do
      if not has[value] then
        has[value] = true
        all[#all + 1] = value
      end
    end
  end
  return all
end

local function ascending(serials)
  local unique = joined(serials, {})
  table.sort(unique, function(a, b)
    return tonumber(a) < tonumber(b)
  end)
  return unique
end

local function serials_with_id(id)
  local serials = {}
  for serial in string.gmatch(redis.call('HGET', ids, id) or '', '%d+') do
    serials[#serials + 1] = serial
  end
  return serials
end

local function tag_start(mark)
  return #mark .. ':' .. mark .. ':'
end

local function tag(mark, serial)
  return tag_start(mark) .. string.rep('0', 16 - #serial) .. serial
end

-- Ascending, as the tags are.
local function serials_with_mark(mark)
  local start = tag_start(mark)
  -- ':' comes right after the digits.
  local tags = redis.call('ZRANGEBYLEX', by_mark, '[' .. start, '(' .. start .. ':')
  local serials = {}
  for place, found in ipairs(tags) do
    serials[place] = string.gsub(string.sub(found, #start + 1), '^0+', '')
  end
  return serials
end

local function serials_with_any(marks)
  if #marks == 1 then
    return serials_with_mark(marks[1])
  end
  local serials = {}
  for _, mark in ipairs(marks) do
    for _, serial in ipairs(serials_with_mark(mark)) do
      serials[#serials + 1] = serial
    end
  end
  return ascending(serials)
end

local function all_serials()
  return redis.call('ZRANGE', order, 0, -1)
end

-- The id and the marks of a stored message, and its head as it stands there.
local function read_head(serial)
  local line = redis.call('HGET', heads, serial)
  local marks = cjson.decode(line)
  return table.remove(marks, 1), marks, line
end

-- Returns what it wrote as the message's head.
local function write_marks(serial, id, before, after)
  local had, has = set_of(before), set_of(after)
  for _, mark in ipairs(before) do
    if not has[mark] then
      redis.call('ZREM', by_mark, tag(mark, serial))
    end
  end
  local line = { id }
  for _, mark in ipairs(after) do
    if not had[mark] then
      redis.call('ZADD', by_mark, 0, tag(mark, serial))
    end
    line[#line + 1] = mark
  end
  local written = cjson.encode(line)
  redis.call('HSET', heads, serial, written)
  return written
end

local function append(id, body, marks)
  local serial = string.format('%.0f', redis.call('HINCRBY', state, 'next_serial', 1))
  redis.call('ZADD', order, serial, serial)
  redis.call('HSET', bodies, serial, body)
  local known = redis.call('HGET', ids, id)
  redis.call('HSET', ids, id, known and known .. ' ' .. serial or serial)
  write_marks(serial, id, {}, marks)
end

local function remove(serial)
  local id, marks = read_head(serial)
  for _, mark in ipairs(marks) do
    redis.call('ZREM', by_mark, tag(mark, serial))
  end
  local left = {}
  for _, other in ipairs(serials_with_id(id)) do
    if other ~= serial then
      left[#left + 1] = other
    end
  end
  if #left > 0 then
    redis.call('HSET', ids, id, table.concat(left, ' '))
  else
    redis.call('HDEL', ids, id)
  end
  redis.call('ZREM', order, serial)
  redis.call('HDEL', bodies, serial)
  redis.call('HDEL', heads, serial)
end

local function remove_all()
  redis.call('DEL', order, bodies, heads, ids, by_mark)
end

-- Give messages the marks that `change(id, marks)` makes; returns {place, id and marks before, and after} of the changed.
local function remark(serials, change)
  local changes = {}
  for _, serial in ipairs(serials) do
    local id, before, line = read_head(serial)
    local after = change(id, before)
    if table.concat(after, '\0') ~= table.concat(before, '\0') then
      local written = write_marks(serial, id, before, after)
      changes[#changes + 1] = { redis.call('ZRANK', order, serial), line, written }
    end
  end
  return changes
end

-- The values of a hash, in the order of the keys.
local function values(hash, keys)
  local found = {}
  for start = 1, #keys, AT_ONCE do
    local some = redis.call('HMGET', hash, unpack(keys, start, math.min(start + AT_ONCE - 1, #keys)))
    for _, value in ipairs(some) do
      found[#found + 1] = value
    end
  end
  return found
end
