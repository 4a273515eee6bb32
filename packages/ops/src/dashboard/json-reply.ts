/**
 * Replies of JSON.
 */
import type { HttpReply } from '@portolan/server/observe/http-route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

export function json(status: number, value: unknown): HttpReply {
  return { status, type: JSON_TYPE, body: JSON.stringify(value) };
}
