local before = head()
if before[3] ~= ARGV[3] then
  redis.call('HSET', state, 'summary', ARGV[3])
  commit()
end
return { before, head() }
