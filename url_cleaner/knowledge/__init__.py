"""Known redirect wrappers and tracking parameters: built in, from users' filter lists, learnt from
a shop.
"""
