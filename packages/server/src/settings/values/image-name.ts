/**
 * Names of container images with a version.
 */

const REPOSITORY = String.raw`[a-zA-Z0-9][-a-zA-Z0-9.]*(:\d+)?(\/[a-z0-9]+([-._]+[a-z0-9]+)*)*`;
const VERSION = String.raw`(:(?<tag>\w[-\w.]{0,127}))?(?<digest>@sha256:[0-9a-f]{64})?`;
const IMAGE = new RegExp(`^${REPOSITORY}${VERSION}$`);

/** @returns undefined for a name with a tag or a digest. A name without, or with `latest`, can change over time. */
export function faultOfImageName(text: string): string | undefined {
  const parts = IMAGE.exec(text)?.groups;
  if (parts === undefined) return 'not the name of an image';
  const isFixed = parts['digest'] !== undefined || (parts['tag'] ?? 'latest') !== 'latest';
  return isFixed ? undefined : 'an image without a version';
}
