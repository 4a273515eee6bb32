/**
 * Keeps signed zone files fresh: signs them at the start and whenever their signatures are old.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { computeKeyTag } from '@portolan/dns/dnssec/dnskey.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { Validity } from '@portolan/dns/signed-records.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { replaceFile } from '@portolan/kernel/base/replace-file.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import {
  describeZoneFileProblem,
  readZoneFile,
  type ZoneFileReading,
} from '@portolan/sources/zone-files/zone-file.ts';
import type { SignedZone, SignOptions } from './options.ts';
import { signZone } from './sign-zone.ts';
import { findSigningNeed } from './signing-need.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Milliseconds between two checks of the signed files. */
const CHECK_INTERVAL = 5 * HOUR * 1000;
/** Seconds around the time of signing, and how much further at most: zones must not all expire at once. */
const SINCE = 3 * HOUR;
const MAX_SINCE_JITTER = 18 * HOUR;
const UNTIL = 32 * DAY;
const MAX_UNTIL_JITTER = 5 * DAY;

export interface SignDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. Default: at random. */
  readonly pick?: () => number;
}

/** Seconds. */
interface Jitter {
  readonly since: number;
  readonly until: number;
}

export class Sign {
  readonly handler = undefined;
  readonly #zones: readonly { readonly zone: SignedZone; readonly jitter: Jitter }[];
  readonly #clock: Clock;
  readonly #log: Log;
  #timer: Timer | undefined;
  #isStopped = false;
  #work: Promise<void> = Promise.resolve();

  constructor({ zones }: SignOptions, { clock, log, pick = Math.random }: SignDependencies) {
    this.#clock = clock;
    this.#log = log;
    this.#zones = zones.map((zone) => ({
      zone,
      jitter: { since: MAX_SINCE_JITTER * pick(), until: MAX_UNTIL_JITTER * pick() },
    }));
  }

  /** Signs in the background: the zones of before are served meanwhile. */
  start(): void {
    this.#check((path, { origin }) =>
      this.#log.info(`plugin/sign: Skipping signing zone "${origin}" in "${path}": signatures are valid`),
    );
    this.#checkAgain();
  }

  /** Resolves when no file is written any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#work;
  }

  #checkAgain(): void {
    this.#timer = this.#clock.after(CHECK_INTERVAL, () => {
      this.#check(() => {});
      this.#checkAgain();
    });
  }

  #check(skip: (path: string, zone: SignedZone) => void): void {
    for (const { zone, jitter } of this.#zones) {
      // Without a key there is nothing to sign with: the Corefile was warned of.
      if (zone.keys.length === 0) continue;
      const need = this.#findNeed(zone);
      if (need === undefined) skip(zone.signedPath, zone);
      // One after the other, so that answers go on meanwhile.
      else this.#work = this.#work.then(() => this.#sign(zone, jitter, need));
    }
  }

  #findNeed({ signedPath, origin }: SignedZone): string | undefined {
    let text: string;
    try {
      text = readHead(signedPath);
    } catch (error) {
      return `open ${signedPath}: ${describeSystemError(error)}`;
    }
    const { records } = readRecords(text, signedPath, origin);
    return findSigningNeed(records, this.#seconds());
  }

  async #sign(zone: SignedZone, jitter: Jitter, need: string): Promise<void> {
    if (this.#isStopped) return;
    const { origin, signedPath, keys } = zone;
    const now = this.#seconds();
    const begin = this.#clock.monotonic();
    const next = new Date((now + CHECK_INTERVAL / 1000) * 1000).toISOString();
    const tags = JSON.stringify(keys.map(({ dnskey }) => computeKeyTag(dnskey)).join());
    this.#log.info(`plugin/sign: Signing "${origin}" because ${need}`);
    let text: string;
    try {
      text = await makeSignedFile(zone, computeValidity(now, jitter), now);
    } catch (error) {
      const elapsed = this.#clock.monotonic() - begin;
      this.#log.warn(
        `plugin/sign: Error signing "${origin}" with key tags ${tags} in ${elapsed.toFixed(0)}ms: ${describeError(error)}, next: ${next}`,
      );
      return;
    }
    if (this.#isStopped) return;
    try {
      await replaceFile(signedPath, FILE_MODE, (file) => file.writeFile(text));
    } catch (error) {
      this.#log.warn(
        `plugin/sign: Error signing "${origin}": failed to move zone file into place: ${describeSystemError(error)}`,
      );
      return;
    }
    const elapsed = ((this.#clock.monotonic() - begin) / 1000).toFixed(6);
    this.#log.info(
      `plugin/sign: Successfully signed zone "${origin}" in "${signedPath}" with key tags ${tags} and ${now} SOA serial, elapsed ${elapsed}, next: ${next}`,
    );
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

/** Before the umask. */
const FILE_MODE = 0o644;
/** The SOA record of a signed file is the first, with its signatures behind it. */
const HEAD_OCTETS = 65_536;

/** @throws Error of `node:fs` */
function readHead(path: string): string {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_OCTETS);
    return head.toString('utf8', 0, readSync(file, head));
  } finally {
    closeSync(file);
  }
}

function computeValidity(now: number, jitter: Jitter): Validity {
  return {
    inception: now - SINCE - Math.floor(jitter.since),
    expiration: now + UNTIL + Math.floor(jitter.until),
  };
}

function readRecords(text: string, file: string, origin: SignedZone['origin']): ZoneFileReading {
  return readZoneFile(text, { file, origin, readInclude: (path) => readFileSync(path, 'utf8') });
}

/** @throws Error that says what is wrong with the zone */
async function makeSignedFile(
  { path, origin, keys }: SignedZone,
  validity: Validity,
  serial: number,
): Promise<string> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`open ${path}: ${describeSystemError(error)}`, { cause: error });
  }
  const { records, problems } = readRecords(text, path, origin);
  const [problem] = problems;
  if (problem !== undefined) throw new Error(describeZoneFileProblem(problem));
  const signed = await signZone(records, { origin, keys, validity, serial });
  return `${signed.map(presentRecord).join('\n')}\n`;
}
