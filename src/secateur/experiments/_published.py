"""The printed figures that the experiments are compared with."""

# Kaariainen, Malinen and Elomaa (2004), Table 1: nodes of the unpruned, k-REP and REP trees, mean of 10 splits.
NODES = {
    "adult": (7507.6, 3898.6, 1600.6),
    "anneal": (32.0, 24.8, 20.8),
    "census-income": (20513.4, 12378.6, 4819.4),
    "connect-4": (13953.8, 8583.8, 4289.0),
    "covertype": (31483.6, 25374.0, 18396.4),
    "isolet": (664.8, 517.6, 272.0),
    "kropt": (7317.4, 5328.8, 3572.4),
    "led24": (90564.8, 43689.4, 9041.6),
    "letter": (2543.8, 1907.0, 1292.4),
    "mushroom": (22.8, 22.8, 22.0),
    "musk2": (224.8, 186.0, 120.0),
    "nursery": (392.0, 349.4, 306.8),
    "optdigits": (410.4, 319.8, 222.2),
    "page-blocks": (123.2, 85.6, 42.6),
    "pendigits": (411.0, 324.0, 245.8),
}

# Garcia-Moratilla, Martinez-Munoz and Suarez (2006): (error %, size) of the unpruned tree, then for the square root
# and the additive penalty at 0SE, and at 1SE; family sizes of the two; how often both chose one tree, 0SE and 1SE.
SUBADDITIVE = {
    "australian": ((18.7, 151.2), (15.1, 9.8), (15.2, 9.9), (14.7, 3.6), (14.7, 3.8), (10.74, 13.32), (79, 96)),
    "breast-w": ((5.6, 67.4), (5.3, 31.3), (5.5, 29.7), (6.0, 12.3), (6.2, 12.5), (10.01, 10.54), (59, 70)),
    "diabetes": ((29.9, 247.1), (26.0, 19.1), (25.8, 22.5), (25.9, 8.1), (25.8, 6.8), (11.24, 16.02), (64, 82)),
    "german": ((30.8, 329.2), (26.0, 26.9), (26.0, 23.6), (26.1, 10.8), (25.8, 11.1), (13.52, 19.52), (44, 65)),
    "heart-statlog": ((26.8, 83.9), (22.7, 15.7), (22.7, 16.4), (23.4, 9.0), (23.3, 8.5), (9.47, 10.19), (64, 71)),
    "ionosphere": ((10.4, 44.3), (11.3, 16.0), (11.4, 15.5), (10.8, 5.9), (10.7, 5.7), (7.59, 8.25), (92, 97)),
    "led24": ((43.6, 146.3), (32.7, 21.7), (32.9, 24.7), (33.7, 18.6), (33.6, 18.6), (11.19, 15.76), (76, 94)),
    "new-thyroid": ((6.6, 22.9), (7.6, 17.6), (7.6, 17.5), (9.2, 10.6), (9.1, 10.7), (5.85, 6.60), (99, 95)),
    "tic-tac-toe": ((5.5, 143.1), (5.9, 105.4), (5.9, 106.1), (6.7, 69.1), (6.7, 71.0), (13.40, 17.22), (78, 75)),
    "waveform": ((29.6, 78.9), (28.9, 31.7), (29.0, 28.3), (30.2, 16.0), (30.3, 15.7), (11.23, 12.20), (67, 70)),
}

# Elomaa and Kaariainen (2001), the surface for n = 500, k = 100: p -> (best c, equation 5 there, equation 2, exact).
# The document draws it; the first three are its formulas, the last the closed form, worked out by hand.
SURFACE = {
    0.60: (1.72, 7.6e-14, 3.0e-07, 4.7e-13),
    0.70: (1.40, 2.2e-05, 1.3e-02, 1.7e-06),
    0.75: (1.22, 4.2e-03, 1.8e-01, 2.3e-04),
    0.80: (1.00, 9.4e-02, 6.4e-01, 7.7e-03),
    0.90: (0.02, 7.5e-01, 1.0e00, 3.4e-01),
}

# Bohanec and Bratko (1994): the king-rook-king tree, least errors for 1 to 11 leaves of 262,144 positions.
KRK_ERRORS = (86976, 56000, 28224, 4060, 1120, 1120, 840, 560, 560, 280, 0)
KRK_ACCURACY = {4: 98.45, 5: 99.57}
# Their example of nine tests, leaves -> (errors, names of the tests cut); two leaves are impossible.
NINE_TESTS = {
    15: (0, ""), 14: (1, "I"), 13: (1, "F"), 12: (1, "D"), 11: (2, "D H"), 10: (2, "D F"), 9: (3, "D F H"),
    8: (3, "C D"), 7: (4, "D E F H"), 6: (4, "C D F"), 5: (6, "B D G H"), 4: (5, "C D E F"),
    3: (6, "B C D"), 1: (9, "A"),
}  # fmt: skip
NINE_GREEDY = "D 12 1, E 10 2, F 8 3, B 7 4, G 6 5, C 3 6, A 1 9"
NINE_MCC1 = "D 12 1 1/3, C 8 3 1/2, E 6 4 1/2, F 4 5 1/2, B 3 6 1, A 1 9 3/2"
NINE_MCC0 = "12, 4, 3, 1"
NINE_SMALLEST = {"0.9": 12, "0.8": 8, "0.75": 6, "0.7": 4}
NINE_BY_LEAVES = "1:1 3:1 4:1 5:2 6:7 7:5 8:10 9:12 10:10 11:10 12:8 13:5 14:3 15:1"
NINE_WITHIN = "1 7 22 43 61 71 75 75 75 76"

# One sample of a concept that is not printed, delta = .01: (rows to grow, to prune, noise) -> nodes, REP error, (A),
# (B) with 10 draws, a quarter bit per node, uniform prior, PAC-Bayes, informed prior, path, Clopper-Pearson.
CERTIFICATES = {
    (2000, 1000, 0.15): (653, 0.158, 0.507, 0.395, 0.401, 0.364, 0.226, 0.207, 0.206, 0.193),
    (2000, 1000, 0.05): (303, 0.044, 0.379, 0.232, 0.213, 0.140, 0.085, 0.073, 0.071, 0.064),
    (20000, 10000, 0.15): (6845, 0.154, 0.339, 0.292, 0.398, 0.361, 0.174, 0.168, 0.169, 0.164),
}
