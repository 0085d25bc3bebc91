-- ARGV: the revision that is expected, the summary, then id, body and marks of each message.
-- Changes nothing when the revision is another one.
local before = head()
if before[1] == ARGV[3] then
  remove_all()
  redis.call('HSET', state, 'summary', ARGV[4])
  local place = 5
  while place <= #ARGV do
    local id, body = ARGV[place], ARGV[place + 1]
    local marks
    marks, place = list_at(place + 2)
    append(id, body, marks)
  end
  commit()
end
return { before, head() }
