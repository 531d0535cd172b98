#include "draw/chart_axis.h"

#include <math.h>

static double round_step(double step) {
    double power = pow(10, floor(log10(step)));
    return (step <= 1.0001 * power ? 1 : step <= 2.0001 * power ? 2 : step <= 5.0001 * power ? 5 : 10) * power;
}

chart_axis chart_axis_make(double low, double high, int wanted) {
    if (!isfinite(low) || !isfinite(high))
        low = high = 0;
    if (high - low <= 1e-9 * fmax(fabs(low), fabs(high))) {
        double around = fabs(low) > 0 ? 0.1 * fabs(low) : 1;
        low -= around;
        high += around;
    }
    double step = round_step((high - low) / wanted);
    chart_axis a = {floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step, step, 0};
    a.steps = (int)lround((a.high - a.low) / step);
    return a;
}

void chart_axis_label(const chart_axis *a, int i, strbuf *out) {
    int decimals = a->step < 1 ? (int)ceil(-log10(a->step) - 1e-9) : 0;
    double value = a->low + i * a->step, scale = pow(10, decimals);
    if (decimals > 9 || fabs(value) * scale > 1e15) {
        strbuf_printf(out, "%.0fe%d", value / pow(10, floor(log10(a->step))), (int)floor(log10(a->step)));
        return;
    }
    long long units = llround(fabs(value) * scale), whole = (long long)scale;
    strbuf_printf(out, "%s%lld", value < 0 && units > 0 ? "-" : "", units / whole);
    if (decimals > 0)
        strbuf_printf(out, ".%0*lld", decimals, units % whole);
}
