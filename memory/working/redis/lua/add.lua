-- ARGV: '1' when an id may be stored twice, marks, then id and body of each message.
-- Returns the places in the arguments of the messages that were new (0 is the first), and the changes of marks.
local before = head()
local marks, first = list_at(4)
local new, again = {}, {}
for place = first, #ARGV, 2 do
  local known = ARGV[3] == '1' and {} or serials_with_id(ARGV[place])
  if #known == 0 then
    append(ARGV[place], ARGV[place + 1], marks)
    new[#new + 1] = (place - first) / 2
  end
  for _, serial in ipairs(known) do
    again[#again + 1] = serial
  end
end
local changes = remark(ascending(again), function(_, stored)
  return joined(stored, marks)
end)
if #new > 0 or #changes > 0 then
  commit()
end
return { before, head(), new, changes }
