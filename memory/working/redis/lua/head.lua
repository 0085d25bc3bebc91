return head()
