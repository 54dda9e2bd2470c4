"""The lab's IAM: what a policy allows is asked before each call, since moto cannot judge policies.

Owns: the policy language; what a call asks for, by AWS's own table of actions; the policies that are in force.
Takes: a call of the API and moto's memory of the account.
Gives: why a call is denied; what was asked for while policies were in force.
Must not: allow an action that its table does not know, or pass over a condition that it cannot judge.
"""
