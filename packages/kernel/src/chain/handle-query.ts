/**
 * Answers a packet that the table cannot answer.
 */
import type { Client } from './query.ts';

/** The response to a packet, no longer than the client takes; undefined: send none. Never throws. */
export type HandleQuery = (packet: Uint8Array, client: Client) => Promise<Uint8Array | undefined>;
