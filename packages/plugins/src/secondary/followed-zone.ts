/**
 * A zone that follows its primary servers: fetched at the start, checked as its SOA record says (RFC 1035 section 4.3.5), and after a NOTIFY
 * (RFC 1996).
 */

import { isNewer } from '@portolan/dns/serial.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Losses } from '@portolan/kernel/base/losses.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import type { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import { ZoneNames } from '../file/zone-names.ts';
import { shareVersions, type ZoneVersions } from '../file/zone-versions.ts';
import type { NamedSecret } from '../tsig/options.ts';
import { type FetchOptions, fetchSerial, fetchZone } from './fetch-zone.ts';
import type { SecondaryZone } from './options.ts';
import type { TransferResult } from './record-stream.ts';
import type { TransferTurns } from './transfer-turns.ts';

export interface FollowedZoneDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** Signs what is asked, and verifies what comes; undefined: neither. */
  readonly key?: NamedSecret | undefined;
  /** From 0 to below 1, to spread checks. */
  readonly random: () => number;
  /** Called when the zone has changed. */
  readonly onChange: () => void;
  /** Judges what a version lacks. Default: it goes at once. */
  readonly losses?: Losses | undefined;
  /** Refuses a version that must not be used: the former one stays. Default: all are good. @throws Error with the reason */
  readonly judge?: ((names: ZoneNames) => void) | undefined;
  /** Waits for a turn to ask the primary servers. Default: there is no wait. */
  readonly turns?: TransferTurns | undefined;
}

/** What a zone of the next plan takes over. */
export interface FetchedZone {
  readonly versions: RefCounted<ZoneVersions>;
  /** When a primary server last said that this is its version, by the monotonic clock. */
  readonly checked: number;
}

/** Milliseconds: pauses between attempts to fetch the zone at first, doubled each time. */
const FIRST_PAUSE = 250;
const MAX_PAUSE = 10_000;
/** Between two checks for the sake of NOTIFY. */
const NOTIFY_PAUSE = 250;
/** Checks are spread over this part of their interval. */
const SPREAD = 0.1;
const MIN_INTERVAL = 1;

export class FollowedZone {
  readonly plan: SecondaryZone;
  readonly #dependencies: FollowedZoneDependencies;
  readonly #versions: RefCounted<ZoneVersions>;
  /** When a primary server last said that the current version is its own, by the monotonic clock; undefined: not fetched yet. */
  #checked: number | undefined;
  #timer: Timer | undefined;
  #pause = FIRST_PAUSE;
  /** When the primary servers were asked last, by the monotonic clock. */
  #asked = Number.NEGATIVE_INFINITY;
  /** The check under way; undefined: none. */
  #checking: Promise<void> | undefined;
  #isStopped = false;

  constructor(plan: SecondaryZone, former: FetchedZone | undefined, dependencies: FollowedZoneDependencies) {
    this.plan = plan;
    this.#checked = former?.checked;
    this.#dependencies = dependencies;
    const source = { kind: 'transfer', subject: plan.origin };
    this.#versions = (former?.versions ?? shareVersions(dependencies.losses, source)).retain();
  }

  /** For the plan that replaces this one; undefined: not fetched yet. */
  get fetched(): FetchedZone | undefined {
    return this.#checked === undefined ? undefined : { versions: this.#versions, checked: this.#checked };
  }

  /** As the primary servers have it. Undefined: not fetched yet, or expired. */
  get names(): ZoneNames | undefined {
    return this.#isFresh() ? this.#versions.value.current : undefined;
  }

  /** With names that it has lost at once. Undefined: as above. */
  get served(): ZoneNames | undefined {
    return this.#isFresh() ? this.#versions.value.served : undefined;
  }

  /** Whether the zone has lost a name that it answers. */
  isStale(name: NameKey): boolean {
    return this.#versions.value.isStale(name);
  }

  #isFresh(): boolean {
    const { current } = this.#versions.value;
    if (current === undefined || this.#checked === undefined) return false;
    const age = this.#dependencies.clock.monotonic() - this.#checked;
    return age < readSoaTimers(current).expire;
  }

  start(): void {
    this.#versions.value.changed = this.#dependencies.onChange;
    void this.check();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    void this.#versions.release();
  }

  /** A primary server has changed the zone. Whoever forges its address cannot make us ask without end. */
  notified(): void {
    const { clock } = this.#dependencies;
    const wait = this.#asked + NOTIFY_PAUSE - clock.monotonic();
    if (wait <= 0) void this.check();
    else if (this.#checking === undefined) {
      this.#timer?.cancel();
      this.#timer = clock.after(wait, () => void this.check());
    }
  }

  /** Asks the primary servers now. A second call joins the check under way. */
  check(): Promise<void> {
    this.#timer?.cancel();
    this.#asked = this.#dependencies.clock.monotonic();
    this.#checking ??= this.#checkInTurn().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkInTurn(): Promise<void> {
    const endTurn = await this.#dependencies.turns?.take();
    try {
      await this.#check();
    } finally {
      endTurn?.();
    }
  }

  async #check(): Promise<void> {
    const faults: string[] = [];
    for (const primary of this.plan.primaries) {
      if (this.#isStopped) return;
      const { clock, key } = this.#dependencies;
      try {
        await this.#fetchFrom({ origin: this.plan.origin, primary, clock, key });
        this.#pause = FIRST_PAUSE;
        this.#checkAgain(true);
        return;
      } catch (error) {
        faults.push(describeError(error));
      }
    }
    this.#warn(faults.at(-1) ?? '');
    this.#checkAgain(false);
  }

  async #fetchFrom(options: FetchOptions): Promise<void> {
    const before = this.#versions.value.current;
    const serial = before?.serial;
    if (serial !== undefined && !isNewer(await fetchSerial(options), serial)) {
      this.#noteCheck();
      return;
    }
    const result = await fetchNewest(options, before);
    if (this.#isStopped) return;
    if (result.kind === 'current') {
      this.#noteCheck();
      return;
    }
    const { log, onChange, judge } = this.#dependencies;
    const names = new ZoneNames(options.origin, result.records);
    judge?.(names);
    this.#versions.value.replace(names);
    this.#noteCheck();
    log.info(`plugin/file: Transferred: ${options.origin} from ${formatSocketAddress(options.primary)}`);
    onChange();
  }

  #noteCheck(): void {
    this.#checked = this.#dependencies.clock.monotonic();
  }

  #warn(reason: string): void {
    if (this.#isStopped) return;
    const { log } = this.#dependencies;
    if (this.#checked === undefined)
      log.warn(
        `plugin/secondary: All '${this.plan.origin}' masters failed to transfer, retrying in ${formatGoDuration(this.#pause)}: ${reason}`,
      );
    else log.warn(`plugin/file: Failed refresh check ${reason}`);
  }

  #checkAgain(isGood: boolean): void {
    if (this.#isStopped) return;
    this.#timer = this.#dependencies.clock.after(this.#waitTime(isGood), () => void this.check());
  }

  /** Milliseconds until the next check. */
  #waitTime(isGood: boolean): number {
    const { current } = this.#versions.value;
    if (current === undefined) {
      const pause = this.#pause;
      this.#pause = Math.min(MAX_PAUSE, pause * 2);
      return pause;
    }
    const { refresh, retry } = readSoaTimers(current);
    return (isGood ? refresh : retry) * (1 - SPREAD * this.#dependencies.random());
  }
}

/** Changes of the known zone, or the whole zone where the primary server gives no changes. */
async function fetchNewest(options: FetchOptions, known: ZoneNames | undefined): Promise<TransferResult> {
  const { soa, serial } = known ?? {};
  if (known !== undefined && soa !== undefined && serial !== undefined)
    try {
      return await fetchZone(options, { soa, serial, records: () => known.records() });
    } catch {
      // Not every server has IXFR, and changes may not fit the zone.
    }
  return await fetchZone(options);
}

/** Milliseconds. */
function readSoaTimers({ soa }: ZoneNames): Readonly<Record<'refresh' | 'retry' | 'expire', number>> {
  const data = soa?.data;
  const [refresh, retry, expire] = data?.kind === 'SOA' ? [data.refresh, data.retry, data.expire] : [0, 0, 0];
  const inMilliseconds = (seconds: number) => Math.max(MIN_INTERVAL, seconds) * 1000;
  return { refresh: inMilliseconds(refresh), retry: inMilliseconds(retry), expire: inMilliseconds(expire) };
}
