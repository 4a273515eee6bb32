/**
 * Compares resource versions: decimal numbers of any length (KEP-5504). Other texts compare as unknown.
 */
const DECIMAL = /^[1-9]\d*$/;

export function isOlder(version: string, than: string): boolean {
  if (!DECIMAL.test(version) || !DECIMAL.test(than)) return false;
  if (version.length !== than.length) return version.length < than.length;
  return version < than;
}
