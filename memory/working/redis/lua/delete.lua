-- ARGV: '1' to tell what is gone, marks, ids. Returns how many there were, and place, body, id and marks of each.
local before = head()
local marks, place = list_at(4)
local serials = serials_with_any(marks)
for _, id in ipairs((list_at(place))) do
  for _, serial in ipairs(serials_with_id(id)) do
    serials[#serials + 1] = serial
  end
end
serials = ascending(serials)
local gone = {}
if ARGV[3] == '1' then
  for number, serial in ipairs(serials) do
    gone[number] = {
      redis.call('ZRANK', order, serial),
      redis.call('HGET', bodies, serial),
      redis.call('HGET', heads, serial),
    }
  end
end
for _, serial in ipairs(serials) do
  remove(serial)
end
if #serials > 0 then
  commit()
end
return { before, head(), #serials, gone }
