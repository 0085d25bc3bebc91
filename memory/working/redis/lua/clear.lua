-- ARGV: '1' to tell what is gone. Returns bodies, and ids with marks.
local before = head()
local gone_bodies, gone_heads = {}, {}
if ARGV[3] == '1' then
  local serials = all_serials()
  gone_bodies, gone_heads = values(bodies, serials), values(heads, serials)
end
if before[2] > 0 or before[3] ~= '' then
  remove_all()
  redis.call('HSET', state, 'summary', '')
  commit()
end
return { before, head(), gone_bodies, gone_heads }
