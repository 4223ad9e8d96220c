// student: the functions of Student's t and its relatives that a verdict on the mean of a sample
// needs. Degrees of freedom need not be whole.
#ifndef PERTOKEN_BASE_STUDENT_H
#define PERTOKEN_BASE_STUDENT_H

// The value that t with `freedom` degrees of freedom is below with probability p, 0 < p < 1.
// Infinite without a degree of freedom.
double student_quantile(double p, double freedom);

// P(distance + deviation Z > limit estimate W), with Z standard normal and freedom W^2 chi-squared
// with `freedom`: the chance that a t test finds a mean to be above its limit when it is `distance`
// above it. The test estimates the standard error as `estimate` on average (in squares); its true
// value is `deviation`. If the two are equal: a noncentral t. Simpson's rule over W; 1e-6 absolute
// from 1 degree of freedom on.
double student_power(double distance, double deviation, double estimate, double freedom,
                     double limit);

// The factor k of a one-sided tolerance limit: with the given confidence, at least the share p of a
// normal distribution lies above mean - k deviation of `count` > 1 of its values. At one minus the
// confidence: no more than p does. Hahn and Meeker, Statistical Intervals, 1991, 4.6. To 1e-6
// relative.
double student_tolerance(double count, double p, double confidence);

// P(at most `most` of `count` events happen), each with probability p.
double student_at_most(unsigned most, double p, unsigned count);

#endif
