/**
 * The name of the image of one part, made from that of Portolan.
 */

/**
 * @param chosen image of Portolan, or of the part itself
 * @param suffix of the part: `-coredns`; empty: Portolan itself
 * @returns undefined if it cannot be made: a digest identifies a single image
 */
export function imageOfPart(chosen: string, suffix: string): string | undefined {
  const [repository = ''] = chosen.split(/(?::[^:/]*)?(?:@|$)/);
  if (repository.endsWith(suffix)) return chosen;
  if (chosen.includes('@')) return undefined;
  return chosen.replace(/(:[^:/]*)?$/, (tag) => `${suffix}${tag}`);
}
