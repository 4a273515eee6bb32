/**
 * The certificates of encrypted listeners: reads their files at the start, and again when they change.
 */
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { TlsIdentity, TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';
import type { Encryption, TcpListener } from '@portolan/kernel/listen/tcp.ts';
import { readIdentity } from '@portolan/plugins/tls/read-identity.ts';
import { readFileSignature } from '@portolan/sources/resolv/file-times.ts';

const CHECK_MILLISECONDS = 10_000;
/** The mode of a file with keys. */
const OWNER_ONLY = 0o600;

/** The part of a listener that is needed here. */
export type EncryptingListener = Pick<TcpListener, 'encrypt' | 'renew'>;

interface CertifiedListener<Listener> {
  readonly listener: Listener;
  readonly options: TlsOptions | undefined;
  readonly keyLog: WriteStream | undefined;
  /** In use; undefined: none. */
  identity: TlsIdentity | undefined;
  /** Of the files when they were read last. */
  signature: string;
  fault: string | undefined;
}

export class ListenerCertificates<Listener extends EncryptingListener> {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #followed = new Map<string, CertifiedListener<Listener>>();
  #timer: Timer | undefined;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Opens a listener that encrypts by these options, and follows their files.
   *
   * @param server its name
   * @throws Error with the reason why the files cannot be used
   */
  async open(
    server: string,
    options: TlsOptions | undefined,
    listen: (encryption: Encryption | undefined) => Promise<Listener>,
  ): Promise<Listener> {
    const keyLog = this.#openKeyLog(options);
    const encryption = options && createEncryption(options, keyLog);
    const listener = await listen(encryption);
    this.#follow(server, { listener, options, keyLog, identity: encryption?.identity });
    return listener;
  }

  /**
   * Encrypts an open listener by other options.
   *
   * @throws Error with the reason why the files cannot be used; the former options stay in use
   */
  change(server: string, options: TlsOptions | undefined): void {
    const known = this.#followed.get(server);
    if (known === undefined || isDeepStrictEqual(known.options, options)) return;
    const { listener } = known;
    const keyLog = this.#openKeyLog(options);
    const encryption = options && createEncryption(options, keyLog);
    listener.encrypt(encryption);
    this.forget(server);
    this.#follow(server, { listener, options, keyLog, identity: encryption?.identity });
  }

  /** The listener is closed. */
  forget(server: string): void {
    this.#followed.get(server)?.keyLog?.end();
    this.#followed.delete(server);
    if (this.#followed.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #follow(server: string, followed: Omit<CertifiedListener<Listener>, 'signature' | 'fault'>): void {
    this.#followed.set(server, { ...followed, signature: '', fault: undefined });
    if (followed.options !== undefined) this.#lookLater();
  }

  #openKeyLog(options: TlsOptions | undefined): WriteStream | undefined {
    if (options?.keyLog === undefined) return undefined;
    const stream = createWriteStream(options.keyLog, { flags: 'a', mode: OWNER_ONLY });
    stream.on('error', ({ message }) =>
      this.#log.error(`plugin/tls: unable to write TLS Key Log: ${message}`),
    );
    return stream;
  }

  #lookLater(): void {
    this.#timer ??= this.#clock.after(CHECK_MILLISECONDS, () => void this.#look());
  }

  async #look(): Promise<void> {
    for (const [server, followed] of this.#followed) await this.#lookAt(server, followed);
    this.#timer = undefined;
    if (this.#followed.size > 0) this.#lookLater();
  }

  async #lookAt(server: string, followed: CertifiedListener<Listener>): Promise<void> {
    const { options, listener } = followed;
    if (options === undefined) return;
    const { certificate, key, authorities } = options;
    const signature = await readFileSignature([
      certificate,
      key,
      ...(authorities === undefined ? [] : [authorities]),
    ]);
    if (signature === followed.signature || this.#followed.get(server) !== followed) return;
    try {
      const identity = readIdentity(options, (path) => readFileSync(path));
      followed.signature = signature;
      followed.fault = undefined;
      if (isDeepStrictEqual(identity, followed.identity)) return;
      listener.renew(identity);
      followed.identity = identity;
      this.#log.info(`plugin/tls: Reloaded certificate of ${server}`);
    } catch (error) {
      const fault = describeError(error);
      if (fault !== followed.fault)
        this.#log.warn(`plugin/tls: Keeping the former certificate of ${server}: ${fault}`);
      followed.fault = fault;
    }
  }
}

function createEncryption(options: TlsOptions, keyLog: WriteStream | undefined): Encryption {
  return {
    identity: readIdentity(options, (path) => readFileSync(path)),
    ...(keyLog !== undefined && { onKeys: (line: Buffer) => void keyLog.write(line) }),
  };
}
