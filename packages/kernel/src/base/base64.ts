/**
 * Octets as text (RFC 4648 section 4).
 */

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Node.js skips what is not base64. @returns undefined for a text that is not base64 from end to end, or lacks its padding */
export function parseBase64(text: string): Buffer | undefined {
  return BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
}
