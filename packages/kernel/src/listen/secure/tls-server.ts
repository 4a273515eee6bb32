/**
 * The server's side of TLS handshakes (RFC 8446, RFC 5246) on connections that a listener has accepted.
 *
 * Sessions are resumed by tickets, so the server keeps nothing for clients that are gone. The key of the tickets changes once a day; a
 * ticket of the former key costs its client a whole handshake.
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../../base/clock.ts';
import { isWelcome, type TlsIdentity, toSecureContextOptions } from './tls-identity.ts';

/** Loaded when first used: most servers have no TLS, which takes a megabyte. */
const loadTls = () => process.getBuiltinModule('node:tls');

const TICKET_KEY_OCTETS = 48;
const TICKET_KEY_MILLISECONDS = 24 * 3_600_000;

/** @throws Error with OpenSSL's reason if the certificate, the key or an authority cannot be used */
export function checkIdentity(identity: TlsIdentity): void {
  loadTls().createSecureContext(toSecureContextOptions(identity));
}

export interface TlsServerOptions {
  readonly identity: TlsIdentity;
  /** The protocols to agree on (ALPN, RFC 7301), most wanted first. Clients that name none are taken. */
  readonly protocols: readonly string[];
  /** Called with each line of the keys of sessions, for tools that decrypt captured packets. Default: not called. */
  readonly onKeys?: ((line: Buffer) => void) | undefined;
  readonly clock: Clock;
}

export class TlsServer {
  readonly #clock: Clock;
  readonly #server: Server;
  /** Handshakes in progress, by the endpoints of their connections. */
  readonly #waiting = new Map<string, (secured: TLSSocket) => void>();
  #identity: TlsIdentity;
  #ticketKeys = randomBytes(TICKET_KEY_OCTETS);
  #timer: Timer | undefined;

  /** @throws Error as `checkIdentity` */
  constructor({ identity, protocols, onKeys, clock }: TlsServerOptions) {
    this.#identity = identity;
    this.#clock = clock;
    const verifies = identity.clientAuthentication !== 'nocert';
    this.#server = loadTls().createServer({
      ...toSecureContextOptions(identity, this.#ticketKeys),
      ALPNProtocols: [...protocols],
      requestCert: verifies,
      // `#onSecure` judges, because some demands take certificates that no authority has signed.
      rejectUnauthorized: false,
    });
    this.#server.on('secureConnection', (secured) => this.#onSecure(secured));
    if (onKeys !== undefined) this.#server.on('keylog', onKeys);
    this.#renewKeysLater();
  }

  /**
   * Shakes hands on an accepted connection, which is closed if that fails.
   *
   * @param onSecure called once the client is known and welcome
   */
  secure(socket: Socket, onSecure: (secured: TLSSocket) => void): void {
    const key = formatEndpoints(socket);
    this.#waiting.set(key, onSecure);
    socket.once('close', () => {
      if (this.#waiting.get(key) === onSecure) this.#waiting.delete(key);
    });
    this.#server.emit('connection', socket);
  }

  /**
   * Uses another certificate for handshakes from now on. Connections stay.
   *
   * @param identity with the same demand on clients
   * @throws Error as `checkIdentity`; the former identity stays in use
   */
  renew(identity: TlsIdentity): void {
    checkIdentity(identity);
    this.#identity = identity;
    this.#server.setSecureContext(toSecureContextOptions(identity, this.#ticketKeys));
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #onSecure(secured: TLSSocket): void {
    const key = formatEndpoints(secured);
    const onSecure = this.#waiting.get(key);
    this.#waiting.delete(key);
    const { clientAuthentication } = this.#identity;
    const shown = clientAuthentication === 'nocert' ? undefined : secured.getPeerCertificate();
    const certificate = shown?.raw === undefined ? undefined : shown;
    if (onSecure === undefined || !isWelcome(clientAuthentication, certificate, secured.authorized)) {
      secured.on('error', () => {});
      secured.destroy();
    } else onSecure(secured);
  }

  #renewKeysLater(): void {
    this.#timer = this.#clock.after(TICKET_KEY_MILLISECONDS, () => {
      this.#ticketKeys = randomBytes(TICKET_KEY_OCTETS);
      this.#server.setTicketKeys(this.#ticketKeys);
      this.#renewKeysLater();
    });
  }
}

/** Unique among the open connections of a listener. */
function formatEndpoints({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
