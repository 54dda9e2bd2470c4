"""The lab's IAM: what a policy allows is asked before each call, since moto cannot judge policies.

Takes a call of the API and moto's memory of the account; gives what it asks for and whether the policies in force allow
it. It must not decide anything that AWS decides otherwise: where it does not know an action, it denies it and says so.
"""
