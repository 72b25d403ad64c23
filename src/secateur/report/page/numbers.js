// Numbers as text. Every function here returns the same text as its twin in inspection/wording.py.

function formatNumber(value) {
  if (value === null || value === undefined) return "–";
  if (isNaN(value)) return "nan";
  if (!isFinite(value)) return value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (value === Math.round(value) && size < 1e15) return groupDigits(value.toFixed(0));
  if (size >= 1e15 || size < 1e-4) return value.toExponential(3).replace("e+", "e");
  if (size >= 1000) return groupDigits(value.toFixed(0));
  const nDecimals = 3 - Math.floor(Math.log10(Number(size.toExponential(3))));
  const text = value.toFixed(nDecimals);
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

// A measured number with `nDigits` significant digits: thousands have a comma, millions and more have a unit
// (M, G, T), and very small or large numbers are written as powers of ten.
function formatMeasure(value, nDigits = 3) {
  if (value === null || value === undefined || !isFinite(value)) return formatNumber(value);
  if (value === Math.round(value) && Math.abs(value) < 1000) return formatNumber(value);
  const [mantissa, power] = value.toExponential(nDigits - 1).split("e");
  const exponent = Number(power);
  if (exponent < -3 || exponent >= 15) return `${mantissa}×10${superscript(exponent)}`;
  const unitExponent = exponent < 6 ? 0 : exponent - (exponent % 3);
  const nDecimals = Math.max(0, nDigits - 1 - exponent + unitExponent);
  const text = Number(`${mantissa}e${exponent - unitExponent}`).toFixed(nDecimals);
  return unitExponent ? `${text}\u00a0${"MGT"[unitExponent / 3 - 2]}` : groupDigits(text);
}

function superscript(exponent) {
  return Array.from(String(exponent), (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("");
}

// Days since 1970-01-01 as a date, with the time of day unless it is midnight; the twin of day_text in data/cells.py.
function formatDay(days) {
  const moment = new Date(Math.round(days * 86400) * 1000);
  if (isNaN(moment)) return String(days);
  const [date, time] = moment.toISOString().split("T");
  if (Number.isInteger(days)) return date;
  const hasSeconds = time.slice(6, 8) !== "00";
  return `${date} ${time.slice(0, hasSeconds ? 8 : 5)}`;
}

// Put a comma between thousands, but not among the decimals.
function groupDigits(digits) {
  const [whole, ...decimals] = digits.split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...decimals].join(".");
}

// A share in percent; `round` is Math.ceil for upper limits, so that the text is a limit too.
function formatPercent(share, round = Math.round) {
  if (share === null || share === undefined || isNaN(share)) return "–";
  const stepsPerUnit = share < 0.0995 ? 1e4 : 1e3;
  // Without the small deduction, Math.ceil would turn 0.29 * 1000 = 290.00001 into 291.
  const steps = round(share * stepsPerUnit - (round === Math.ceil ? 1e-9 : 0));
  return `${((steps / stepsPerUnit) * 100).toFixed(stepsPerUnit === 1e4 ? 2 : 1)}\u00a0%`;
}

const formatCount = (n, singular, plural) => `${formatNumber(n)} ${n === 1 ? singular : plural || singular + "s"}`;
