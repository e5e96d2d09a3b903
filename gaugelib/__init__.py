"""gaugelib: the hidden gauge of ReLU neurons, computed.

A network f(x) = sum_i a_i [w_i.x]_+ learns a few teacher neurons from Gaussian inputs.
The chain from a question to a number is

    problem  ->  flow  ->  trajectory  ->  number  ->  claim  ->  figure

and each module below does one link of it.  Papers are cited by author; equation, theorem
and table numbers without an author are those of Wang, *Hidden Gauge Controls Feature
Specialization in ReLU Networks* (2026).
"""
