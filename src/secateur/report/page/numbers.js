// How numbers are written; the twins of _numbers.py.

function number(value) {
  if (value === null || value === undefined) return "–";
  if (!isFinite(value)) return isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (value === Math.round(value) && size < 1e15) return grouped(value.toFixed(0));
  if (size >= 1e15 || size < 1e-4) return value.toExponential(3).replace("e+", "e");
  if (size >= 1000) return grouped(value.toFixed(0));
  const decimals = 3 - Math.floor(Math.log10(Number(size.toExponential(3))));
  const text = value.toFixed(decimals);
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

// A measured number with so many digits: thousands marks, from a million on M, G and T, powers of ten beyond.
function figure(value, digits = 3) {
  if (value === null || value === undefined || !isFinite(value)) return number(value);
  if (value === Math.round(value) && Math.abs(value) < 1000) return number(value);
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const e = Number(power);
  if (e < -3 || e >= 15) return `${mantissa}×10${Array.from(String(e), (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;
  const shift = e < 6 ? 0 : e - (e % 3);
  const text = Number(`${mantissa}e${e - shift}`).toFixed(Math.max(0, digits - 1 - e + shift));
  return shift ? `${text}\u00a0${"MGT"[shift / 3 - 2]}` : grouped(text);
}

// Days since 1970-01-01 as a date, with the time if there is one; the twin of day_text in data/cells.py.
function dayText(days) {
  const moment = new Date(Math.round(days * 86400) * 1000);
  if (isNaN(moment)) return String(days);
  const [date, time] = moment.toISOString().split("T");
  return Number.isInteger(days) ? date : `${date} ${time.slice(0, time.slice(6, 8) === "00" ? 5 : 8)}`;
}

function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

function percent(share, round = Math.round) {
  if (share === null || share === undefined || isNaN(share)) return "–";
  const unit = share < 0.0995 ? 1e4 : 1e3;
  // A little less than a whole step is taken off first, or 0.29 * 1000 would be rounded up to 290.00001.
  const steps = round(share * unit - (round === Math.ceil ? 1e-9 : 0));
  return `${((steps / unit) * 100).toFixed(unit === 1e4 ? 2 : 1)}\u00a0%`;
}

const count = (n, one, many) => `${number(n)} ${n === 1 ? one : many || one + "s"}`;
