/**
 * The base folder of files that other handlers name.
 */
export interface RootOptions {
  readonly path: string;
}
