/**
 * Values as text with their types, as the recorded cases have them.
 */
import { quoteOctets } from '../text/octets.ts';
import { formatTime } from '../time/format-time.ts';
import { GoTime } from '../time/go-time.ts';
import { GoZone, UTC } from '../time/go-zone.ts';
import { describeType, isSlice } from '../values/describe-value.ts';
import { formatFloat } from '../values/format-value.ts';
import { type ExpressionValue, GoBytes, GoDuration, GoFunction, GoInteger, GoMap } from '../values/value.ts';

export function showValue(value: ExpressionValue): string {
  const type = describeType(value);
  if (value === null) return 'nil';
  if (typeof value === 'string') return `${type} ${quoteOctets(value)}`;
  if (typeof value === 'number') return `${type} ${formatFloat(value)}`;
  if (typeof value !== 'object') return `${type} ${value}`;
  if (value instanceof GoInteger) return `${type} ${value.value}`;
  if (value instanceof GoDuration) return `${type} ${value.nanoseconds}`;
  if (value instanceof GoBytes) return `${type} ${quoteOctets(value.octets)}`;
  if (value instanceof GoTime) {
    const utc = formatTime(value.in(UTC), '2006-01-02T15:04:05.999999999Z07:00');
    return `${type} ${utc} ${formatTime(value, '-07:00:00')}`;
  }
  if (value instanceof GoZone) return `${type} ${value.name}`;
  if (value instanceof GoFunction) return 'func';
  if (value instanceof GoMap) {
    const entries = Array.from(
      value.entries(),
      ({ key, value: each }) => `${showValue(key)}: ${showValue(each)}`,
    );
    return `${type} {${entries.toSorted((a, b) => (a < b ? -1 : 1)).join(', ')}}`;
  }
  if (isSlice(value))
    return value.isNil ? `${type} nil` : `${type} [${value.items.map(showValue).join(', ')}]`;
  return type;
}
