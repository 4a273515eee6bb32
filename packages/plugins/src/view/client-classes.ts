/**
 * Conditions on the client's address, so that reader threads can choose the server block by themselves.
 *
 * Within the longest of all ranges that the conditions name, each of them has the same value for all addresses.
 */
import { parseCidr } from '@portolan/corefile/directive/go-values.ts';
import type { NodeOf, SyntaxNode } from '@portolan/corefile/expression/syntax/syntax-tree.ts';
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressRange, matchRange, uniteRanges } from '@portolan/dns/address-range.ts';
import type { Truth } from '@portolan/kernel/contract/block-choice.ts';
import type { ViewOptions } from './options.ts';

/** The ranges that conditions name, without duplicates. */
export function listRanges(views: readonly ViewOptions[]): readonly AddressRange[] {
  const found = views.flatMap(({ conditions }) => conditions.flatMap(({ tree }) => [...rangesIn(tree)]));
  return uniteRanges(found);
}

/**
 * Whether a view is for the clients of a range.
 *
 * @param range one of `listRanges`, for addresses in no longer one of them; undefined: for addresses in none
 */
export function truthFor({ conditions }: ViewOptions, range: AddressRange | undefined): Truth {
  const truths = conditions.map(({ tree }) => judge(tree, range));
  if (truths.includes(false)) return false;
  return truths.includes('unknown') ? 'unknown' : true;
}

function judge(condition: SyntaxNode, range: AddressRange | undefined): Truth {
  switch (condition.kind) {
    case 'boolean':
      return condition.value;
    case 'nil':
    case 'integer':
    case 'float':
    case 'string':
    case 'bytes':
      // A condition without a truth value is not met.
      return false;
    case 'unary': {
      if (condition.operator !== 'not' && condition.operator !== '!') return 'unknown';
      const truth = judge(condition.operand, range);
      return truth === 'unknown' ? truth : !truth;
    }
    case 'binary':
      return judgeBinary(condition, range);
    case 'conditional': {
      const test = judge(condition.test, range);
      return test === 'unknown' ? test : judge(test ? condition.whenTrue : condition.whenFalse, range);
    }
    case 'call': {
      const own = findRange(condition);
      return own === undefined ? 'unknown' : holds(own, range);
    }
    default:
      return 'unknown';
  }
}

function judgeBinary(condition: NodeOf<'binary'>, range: AddressRange | undefined): Truth {
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
  return isAmong !== (operator === '!=');
}

function* rangesIn(condition: SyntaxNode): Iterable<AddressRange> {
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
    case 'conditional':
      yield* rangesIn(condition.test);
      yield* rangesIn(condition.whenTrue);
      yield* rangesIn(condition.whenFalse);
      break;
    default:
  }
}

/** `incidr(client_ip(), '10.0.0.0/8')` */
function findRange(condition: SyntaxNode): AddressRange | undefined {
  if (condition.kind !== 'call' || !isNamed(condition.callee, 'incidr')) return undefined;
  const [address, range] = condition.args;
  if (!isClientAddress(address) || range?.kind !== 'string') return undefined;
  const read = parseCidr(range.value);
  // One that is no range fails, and what fails is left to the plugin.
  return read.kind === 'bad' ? undefined : read.value;
}

/** `client_ip() == '10.0.0.1'`, `client_ip() in ['10.0.0.1', '10.0.0.2']`, and their opposites. */
function toAddressRanges({ operator, left, right }: NodeOf<'binary'>): readonly AddressRange[] | undefined {
  if (!isClientAddress(left)) return undefined;
  if (operator === '==' || operator === '!=') {
    const address = toAddressRange(right);
    return address && [address];
  }
  if (operator !== 'in' || (right.kind !== 'list' && right.kind !== 'set')) return undefined;
  const addresses = right.items.map(toAddressRange);
  return addresses.every((address) => address !== undefined) ? addresses : undefined;
}

function isClientAddress(expression: SyntaxNode | undefined): boolean {
  return expression?.kind === 'call' && isNamed(expression.callee, 'client_ip');
}

function isNamed(callee: SyntaxNode, name: string): boolean {
  return callee.kind === 'name' && callee.name === name;
}

/** Other spellings of an address are equal to no client's text. */
function toAddressRange(expression: SyntaxNode): AddressRange | undefined {
  if (expression.kind !== 'string') return undefined;
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
