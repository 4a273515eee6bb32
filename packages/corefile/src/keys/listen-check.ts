/**
 * Checks for zones that are served twice on an address, and for overlapping listeners.
 */
import type { CorefileFindings } from '../syntax/findings.ts';
import { describePosition, type Position } from '../syntax/token.ts';
import type { ServerKey } from './server-key.ts';
import type { Scheme } from './zone-name.ts';

export interface ListeningBlock {
  readonly keys: readonly ServerKey[];
  /** The addresses of `bind`, duplicates included; undefined: all addresses. */
  readonly bound: readonly string[] | undefined;
  /** Blocks with a view may serve the same zones. */
  readonly hasView: boolean;
}

interface Listener {
  readonly shown: string;
  readonly position: Position;
}

const MAX_PORT = 65_535;

export function checkListeners(blocks: readonly ListeningBlock[], findings: CorefileFindings): void {
  for (const { port, position } of blocks.flatMap((block) => block.keys))
    if (port < 0 || port > MAX_PORT) {
      const remedy = `Give a port from 1 to ${MAX_PORT}.`;
      findings.problems.push({ phase: 'set-up', message: `address ${port}: invalid port`, position, remedy });
    }
  const check = new OverlapCheck(findings);
  for (const block of blocks)
    for (const key of block.keys)
      for (const address of block.bound ?? ['']) check.add(key, address, block.hasView);
  for (const { scheme, shown, port, position } of blocks.flatMap((block) => block.keys)) {
    const remedy = UNSERVED.get(scheme);
    if (remedy !== undefined)
      findings.problems.push({
        phase: 'set-up',
        message: `cannot serve ${scheme}://${shown}:${port} - ${scheme} listeners are not built into Portolan`,
        position,
        remedy,
      });
  }
}

/** What to write instead of schemes that are not served. */
const UNSERVED: ReadonlyMap<Scheme, string> = new Map([
  ['quic', 'Serve the zone over TLS in place of QUIC: tls://ZONE.'],
  ['https3', 'Serve the zone over HTTP/2 in place of HTTP/3: https://ZONE.'],
]);

class OverlapCheck {
  readonly #findings: CorefileFindings;
  readonly #registered = new Map<string, Listener>();
  /** The last listener registered for a zone and port, on any address. */
  readonly #anyAddress = new Map<string, Listener>();

  constructor(findings: CorefileFindings) {
    this.#findings = findings;
  }

  add(key: ServerKey, address: string, hasView: boolean): void {
    const unbound = `${key.scheme}://${key.shown}:${key.port}`;
    const shown = address === '' ? unbound : `${unbound} on ${address}`;
    const existing = this.#registered.get(shown);
    const overlapping = this.#findOverlap(unbound, address);
    if (existing !== undefined && !hasView) this.#refuseDuplicate(key, shown, existing);
    else if (existing === undefined && overlapping !== undefined)
      this.#refuseOverlap(key, shown, overlapping);
    else if (!hasView) {
      const listener = { shown, position: key.position };
      this.#registered.set(shown, listener);
      this.#anyAddress.set(unbound, listener);
    }
  }

  #findOverlap(unbound: string, address: string): Listener | undefined {
    const other = this.#anyAddress.get(unbound);
    return address === '' || other === undefined ? other : this.#registered.get(unbound);
  }

  #refuseDuplicate({ position }: ServerKey, shown: string, existing: Listener): void {
    this.#findings.problems.push({
      phase: 'set-up',
      message: `cannot serve ${shown} - it is already defined`,
      position,
      remedy: `It is served by ${describePosition(existing.position)}. Put the directives of both into one server block, or bind them to different addresses.`,
    });
  }

  #refuseOverlap({ position }: ServerKey, shown: string, overlapping: Listener): void {
    this.#findings.problems.push({
      phase: 'set-up',
      message: `cannot serve ${shown} - zone overlap listener capacity with ${overlapping.shown}`,
      position,
      remedy: `The block of ${describePosition(overlapping.position)} serves the same zone and port. Give both a bind, or neither.`,
    });
  }
}
