-- ARGV: ids, each followed by the list of its marks.
local before = head()
local wanted, serials, place = {}, {}, 3
while place <= #ARGV do
  local id = ARGV[place]
  wanted[id], place = list_at(place + 1)
  for _, serial in ipairs(serials_with_id(id)) do
    serials[#serials + 1] = serial
  end
end
local changes = remark(ascending(serials), function(id)
  return wanted[id]
end)
if #changes > 0 then
  commit()
end
return { before, head(), changes }
