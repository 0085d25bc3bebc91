-- ARGV: the old mark and the new one as lists of one or none, '1' when only some ids are meant, those ids.
local before = head()
local old, place = list_at(3)
local new
new, place = list_at(place)
local serials = {}
if ARGV[place] == '1' then
  for _, id in ipairs((list_at(place + 1))) do
    for _, serial in ipairs(serials_with_id(id)) do
      serials[#serials + 1] = serial
    end
  end
  serials = ascending(serials)
elseif #old > 0 then
  serials = serials_with_any(old)
else
  serials = all_serials()
end
local changes = remark(serials, function(_, marks)
  if #old == 0 then
    return joined(marks, new)
  end
  local after = {}
  for _, mark in ipairs(marks) do
    if mark ~= old[1] then
      after[#after + 1] = mark
    elseif #new > 0 then
      after[#after + 1] = new[1]
    end
  end
  return joined(after, {})
end)
if #changes > 0 then
  commit()
end
return { before, head(), changes }
