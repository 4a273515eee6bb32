/**
 * Octets in hexadecimal, in runs of digits parted by colons, dashes or spaces. The last octet of a run of odd length is
 * its last digit alone.
 */

const RUN = /^[0-9a-fA-F]+$/;

/** @returns nothing if there are other characters */
export function readHexadecimal(text: string): Uint8Array | undefined {
  const runs = text.split(/[: -]/).filter((run) => run !== '');
  if (!runs.every((run) => RUN.test(run))) return undefined;
  const octets = runs.flatMap((run) => run.match(/..?/g) ?? []).map((digits) => Number.parseInt(digits, 16));
  return octets.length <= 0xffff ? Uint8Array.from(octets) : undefined;
}
