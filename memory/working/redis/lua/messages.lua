-- ARGV: '1' when only some marks are wanted, those marks, the marks that are not wanted.
local wanted, place = list_at(4)
local unwanted = set_of(serials_with_any((list_at(place))))
local serials = {}
for _, serial in ipairs(ARGV[3] == '1' and serials_with_any(wanted) or all_serials()) do
  if not unwanted[serial] then
    serials[#serials + 1] = serial
  end
end
return { head(), values(bodies, serials) }
