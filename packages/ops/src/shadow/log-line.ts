/**
 * The questions in lines of CoreDNS's `log`, in the formats `common` and `combined`, whatever precedes them.
 */
import { parseClass } from '@portolan/dns/mnemonics.ts';
import { ItemFault } from '@portolan/kernel/base/item-guard.ts';
import { type AskedQuestion, PLAIN, readName, readType } from '../compare/asked-question.ts';

/** `… - 1234 "A IN www.example. udp 45 false 512" NOERROR …`. Names have no spaces or quotes: these are escaped. */
const QUERY = / - \d+ "(\S+) (\S+) (\S+) (udp|tcp) \d+ (true|false) (\d+)" /;
/** The size that is logged for a query without an OPT record. */
const NO_EDNS_SIZE = 512;

/**
 * @returns undefined for a line of something else
 * @throws ItemFault for a question that cannot be asked
 */
export function readLogLine(line: string): AskedQuestion | undefined {
  const [, type = '', className = '', name = '', protocol, dnssecOk, size] = QUERY.exec(line) ?? [];
  if (name === '') return undefined;
  const dnsClass = parseClass(className);
  if (dnsClass === undefined) throw new ItemFault('malformed', `not a class: ${className.slice(0, 20)}`);
  const udpSize = Number(size);
  const hasOpt = dnssecOk === 'true' || (protocol === 'udp' && udpSize > NO_EDNS_SIZE);
  const edns = { udpSize: Math.min(udpSize, MAX_SIZE), dnssecOk: dnssecOk === 'true' };
  return {
    ...PLAIN,
    name: readName(name),
    type: readType(type),
    class: dnsClass,
    edns: hasOpt ? edns : undefined,
  };
}

const MAX_SIZE = 65_535;
