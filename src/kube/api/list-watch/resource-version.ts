/**
 * Whether one resource version is older than another: they are decimal numbers of any length (KEP-5504), and what is
 * not one compares as unknown.
 */
const DECIMAL = /^[1-9]\d*$/;

export function isOlder(version: string, than: string): boolean {
  if (!DECIMAL.test(version) || !DECIMAL.test(than)) return false;
  if (version.length !== than.length) return version.length < than.length;
  return version < than;
}
