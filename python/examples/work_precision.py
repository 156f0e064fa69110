"""A work-precision diagram: error against work for several methods on one model.

    python3 work_precision.py [model.yaml] [picture.png]
"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot
import numpy

import trammel

model = trammel.load(sys.argv[1] if len(sys.argv) > 1 else "models/slider_crank.yaml")
end, signal = 0.3, "body.slider.position.x"
reference = model.run(method="radau-iia-3", tolerance=1e-11, end=end, output_step=end / 30)[signal]

figure, axes = matplotlib.pyplot.subplots()
for method in ("hht-i3", "radau-iia-3", "bdf-si2", "dormand-prince-853"):
    work, error = [], []
    for tolerance in 10.0 ** numpy.arange(-3, -8, -1):
        result = model.run(method=method, tolerance=tolerance, end=end, output_step=end / 30)
        error.append(abs(result[signal] - reference).max())
        work.append(result.summary["counts"]["evaluations"] if "counts" in result.summary else result.summary["steps"])
    axes.loglog(error, work, "o-", label=method)
    print(f"{method:20s}" + "".join(f"  {e:.1e} ({w})" for e, w in zip(error, work)))
axes.set_xlabel(f"largest error of {signal}, m")
axes.set_ylabel("evaluations")
axes.legend()
figure.savefig(sys.argv[2] if len(sys.argv) > 2 else "work_precision.png")
