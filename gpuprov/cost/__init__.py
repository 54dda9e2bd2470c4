"""What hosts cost: arithmetic over dated prices.

Owns: how an hourly price is chosen for an instance and what stands around it; sums; what time has cost.
Takes: instance types with how each was bought, a region, the catalog's prices.
Gives: FleetCost, in which what is unknown stays unknown and each price has its day.
Must not: ask anybody for a price, read a clock, or guess the price of one region from another's.
"""
