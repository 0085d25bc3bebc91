local serials = all_serials()
return { head(), values(bodies, serials), values(heads, serials) }
