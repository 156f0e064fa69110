#!/usr/bin/env python3
"""scripts/rosenbrock_coefficients.py [GAMMA]: solves the order conditions of the Rosenbrock method of order 4(3) in its
source (Sandu, Negrut, Haug, Potra, Sandu 2003, section 2) for its coefficients, Table 1, to 30 digits.

With gamma, alpha_2 = 2 gamma, b_3 = 0 (14), alpha_3 by (12) and alpha_4i = alpha_3i (11) every other condition is linear in
one unknown that is left, in the order below. Without an argument gamma is the root of R(inf) = 0, gamma^4 - 4 gamma^3 +
3 gamma^2 - 2/3 gamma + 1/24 = 0, for which the method is L-stable; the source rounds it to 0.57281606.
"""
import sys
from decimal import Decimal as D, getcontext

getcontext().prec = 50


def l_stable_gamma():
    g = D("0.57281606")
    for _ in range(20):  # Newton's method
        value = g**4 - 4 * g**3 + 3 * g**2 - 2 * g / 3 + D(1) / 24
        g -= value / (4 * g**3 - 12 * g**2 + 6 * g - D(2) / 3)
    return g


def solve(g):
    a2 = 2 * g                                                      # (14)
    a3 = (D(1) / 5 - a2 / 4) / (D(1) / 4 - a2 / 3)                  # (12)
    # (8c), (8e) with b_3 = 0 and alpha_4 = alpha_3
    b4 = (D(1) / 4 - a2 / 3) / (a3**2 * (a3 - a2))
    b2 = (D(1) / 3 - b4 * a3**2) / a2**2
    b1 = 1 - b2 - b4                                                # (8a)
    B43 = (D(1) / 20 - g / 4 - a2 * (D(1) / 12 - g / 3)) / (b4 * a3**2 * (a3 - a2))  # (13)
    B42 = ((D(1) / 12 - g / 3) / b4 - B43 * a3**2) / a2**2          # (8g)
    P = (D(1) / 24 - g / 2 + D(3) / 2 * g**2 - g**3) / (b4 * B43)   # (8h): beta_32 beta'_2
    Q = (D(1) / 6 - g + g**2) / b4                                  # (8d): beta_42 beta'_2 + beta_43 beta'_3
    R = (D(1) / 8 - g / 3) / (b4 * a3)                              # (8f): alpha_32 beta'_2
    # (10), P (beta'_2 a3^2 - beta'_4 a2^2) = (beta'_2 a3^2 - beta'_3 a2^2) Q, with beta'_3 by (8d), beta'_4 by (8b)
    s = B42 / B43
    left = P * (a3**2 + b2 / b4 * a2**2) - Q * (a3**2 + s * a2**2)
    s2 = (P * a2**2 * (D(1) / 2 - g) / b4 - Q**2 * a2**2 / B43) / left
    s3 = (Q - B42 * s2) / B43
    s4 = (D(1) / 2 - g - b2 * s2) / b4
    B32, a32 = P / s2, R / s2
    B31, B41, a31 = s3 - B32, s4 - B42 - B43, a3 - a32
    return {"alpha_21": a2, "alpha_31": a31, "alpha_32": a32, "gamma_21": s2 - a2, "gamma_31": B31 - a31,
            "gamma_32": B32 - a32, "gamma_41": B41 - a31, "gamma_42": B42 - a32, "gamma_43": B43,
            "b_1": b1, "b_2": b2, "b_3": D(0), "b_4": b4}


if __name__ == "__main__":
    gamma = D(sys.argv[1]) if len(sys.argv) > 1 else l_stable_gamma()
    print(f"gamma    {gamma:.30f}")
    for name, value in solve(gamma).items():
        print(f"{name:8} {value:.30f}")
