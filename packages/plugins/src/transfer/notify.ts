/**
 * Notifies secondary servers that a zone has changed (RFC 1996).
 */

import { toFullRcode } from '@portolan/dns/edns.ts';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { signQuery } from '@portolan/dns/tsig.ts';
import { CLASS, type NameKey, OPCODE, RCODE, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { writeQuery } from '@portolan/kernel/forward/transport/query-message.ts';
import { UdpTransport } from '@portolan/kernel/forward/transport/udp-transport.ts';
import type { SocketAddress } from '@portolan/kernel/socket/addresses.ts';
import type { NamedSecret } from '../tsig/options.ts';

const TRIES = 3;
const TIMEOUT = 2_000;
const MAX_REPLY_OCTETS = 512;
/** AA is set, because the sender has authority over the zone. */
const FLAGS = (OPCODE.NOTIFY << 3) | 0x04;

export interface NotifyOptions {
  readonly zone: NameKey;
  readonly secondary: SocketAddress;
  readonly source: string | undefined;
  readonly clock: Clock;
  /** Signs it; undefined: it is not signed. */
  readonly key?: NamedSecret | undefined;
}

/** @returns why the secondary server did not accept it, in CoreDNS's words; undefined: it did */
export async function notifySecondary(options: NotifyOptions): Promise<string | undefined> {
  const { secondary, source, clock, zone } = options;
  const transport = new UdpTransport({
    peer: secondary,
    sourceAddress: source,
    sourcePorts: { kind: 'any' },
    mixesCase: false,
    maxReply: MAX_REPLY_OCTETS,
    ignoredAddresses: [],
    clock,
  });
  const refused = (reason: string) =>
    `notify for zone "${zone}" was not accepted by "${formatSocketAddress(secondary)}": ${JSON.stringify(reason)}`;
  let fault = '';
  try {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const outcome = await send(options, transport);
      if (outcome === RCODE.NOERROR) return undefined;
      fault =
        typeof outcome === 'number'
          ? refused('').replace(/""$/, `rcode was "${rcodeName(outcome)}"`)
          : refused(outcome);
    }
    return fault;
  } finally {
    transport.close();
  }
}

/** @returns the response code, or the reason why there is none */
function send({ zone, clock, key }: NotifyOptions, transport: UdpTransport): Promise<number | string> {
  const question = { name: zone, type: TYPE.SOA, class: CLASS.IN };
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: false };
  const plain = writeQuery({ ...question, ...flags }, undefined);
  plain.octets[2] = FLAGS;
  const query = key === undefined ? plain : { ...plain, octets: signed(plain.octets, key, clock) };
  return new Promise((resolve) => {
    const exchange = transport.ask(query, {
      replied(reply) {
        timer.cancel();
        resolve(toFullRcode(reply));
      },
      heard() {},
      failed(code) {
        timer.cancel();
        resolve(code);
      },
    });
    const timer = clock.after(TIMEOUT, () => {
      exchange.cancel();
      resolve('i/o timeout');
    });
  });
}

/** The transport gives it another id, which is not signed (RFC 8945 section 4.2). */
function signed(octets: Uint8Array, key: NamedSecret, clock: Clock): Uint8Array {
  return signQuery(octets, key, key.algorithm, Math.floor(clock.now() / 1000)).octets;
}
