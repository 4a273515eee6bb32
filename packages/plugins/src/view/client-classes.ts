/**
 * Conditions on the client's address, so that reader threads can choose the server block by themselves.
 *
 * Within the longest of all ranges that the conditions name, each of them has the same value for all addresses.
 */
import { parseCidr } from '@portolan/corefile/directive/go-values.ts';
import type { Expression } from '@portolan/corefile/expression/expression.ts';
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressRange, matchRange, uniteRanges } from '@portolan/dns/address-range.ts';
import type { Truth } from '@portolan/kernel/contract/block-choice.ts';
import type { ViewOptions } from './options.ts';

/** The ranges that conditions name, without duplicates. */
export function listRanges(views: readonly ViewOptions[]): readonly AddressRange[] {
  const found = views.flatMap(({ conditions }) =>
    conditions.flatMap((condition) => [...rangesIn(condition)]),
  );
  return uniteRanges(found);
}

/**
 * Whether a view is for the clients of a range.
 *
 * @param range one of `listRanges`, for addresses in no longer one of them; undefined: for addresses in none
 */
export function truthFor({ conditions }: ViewOptions, range: AddressRange | undefined): Truth {
  const truths = conditions.map((condition) => judge(condition, range));
  if (truths.includes(false)) return false;
  return truths.includes('unknown') ? 'unknown' : true;
}

function judge(condition: Expression, range: AddressRange | undefined): Truth {
  switch (condition.kind) {
    case 'value':
      // A condition without a truth value is not met.
      return condition.value === true;
    case 'unary': {
      if (condition.operator !== 'not' && condition.operator !== '!') return 'unknown';
      const truth = judge(condition.operand, range);
      return truth === 'unknown' ? truth : !truth;
    }
    case 'binary':
      return judgeBinary(condition, range);
    case 'choice': {
      const test = judge(condition.test, range);
      return test === 'unknown' ? test : judge(test ? condition.whenTrue : condition.whenFalse, range);
    }
    case 'variable':
      return 'unknown';
    case 'call':
    case 'list': {
      const own = findRange(condition);
      return own === undefined ? 'unknown' : holds(own, range);
    }
  }
}

function judgeBinary(
  condition: Extract<Expression, { kind: 'binary' }>,
  range: AddressRange | undefined,
): Truth {
  const { operator, left, right } = condition;
  const isOr = operator === 'or' || operator === '||';
  if (isOr || operator === 'and' || operator === '&&') {
    const first = judge(left, range);
    const second = judge(right, range);
    // An unknown first part may fail, and then nothing is met.
    if (first === 'unknown' || first === isOr) return first;
    return second;
  }
  const addresses = toAddressRanges(condition);
  if (addresses === undefined) return 'unknown';
  const isAmong = addresses.some((address) => holds(address, range));
  return isAmong !== (operator === '!=' || operator === 'not in');
}

function* rangesIn(condition: Expression): Iterable<AddressRange> {
  const own = findRange(condition);
  if (own !== undefined) yield own;
  switch (condition.kind) {
    case 'unary':
      yield* rangesIn(condition.operand);
      break;
    case 'binary':
      yield* toAddressRanges(condition) ?? [];
      yield* rangesIn(condition.left);
      yield* rangesIn(condition.right);
      break;
    case 'choice':
      yield* rangesIn(condition.test);
      yield* rangesIn(condition.whenTrue);
      yield* rangesIn(condition.whenFalse);
      break;
    default:
  }
}

/** `incidr(client_ip(), '10.0.0.0/8')` */
function findRange(condition: Expression): AddressRange | undefined {
  if (condition.kind !== 'call' || condition.name !== 'incidr') return undefined;
  const [address, range] = condition.args;
  if (!isClientAddress(address) || range?.kind !== 'value' || typeof range.value !== 'string')
    return undefined;
  const read = parseCidr(range.value);
  // One that is no range fails, and what fails is left to the plugin.
  return read.kind === 'bad' ? undefined : read.value;
}

/** `client_ip() == '10.0.0.1'`, `client_ip() in ['10.0.0.1', '10.0.0.2']`, and their opposites. */
function toAddressRanges({
  operator,
  left,
  right,
}: Extract<Expression, { kind: 'binary' }>): readonly AddressRange[] | undefined {
  if (!isClientAddress(left)) return undefined;
  if (operator === '==' || operator === '!=') {
    const address = toAddressRange(right);
    return address && [address];
  }
  if ((operator !== 'in' && operator !== 'not in') || right.kind !== 'list') return undefined;
  const addresses = right.items.map(toAddressRange);
  return addresses.every((address) => address !== undefined) ? addresses : undefined;
}

function isClientAddress(expression: Expression | undefined): boolean {
  return expression?.kind === 'call' && expression.name === 'client_ip';
}

/** Other spellings of an address are equal to no client's text. */
function toAddressRange(expression: Expression): AddressRange | undefined {
  if (expression.kind !== 'value' || typeof expression.value !== 'string') return undefined;
  const { value: address } = expression;
  const octets = parseAddress(address);
  if (octets === undefined || address !== address.toLowerCase()) return undefined;
  return { address, prefix: octets.length * 8 };
}

/** Whether a range holds all addresses of another one. */
function holds(outer: AddressRange, inner: AddressRange | undefined): boolean {
  if (inner === undefined || inner.prefix < outer.prefix) return false;
  const octets = parseAddress(inner.address);
  return octets !== undefined && matchRange(outer)(octets);
}
