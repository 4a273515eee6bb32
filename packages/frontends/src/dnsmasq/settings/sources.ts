/**
 * Access to the files of a configuration. Callers provide it, so that option readers do not access the disk themselves.
 */
export interface ConfigSources {
  readFile(path: string): FileRead;
  listFolder(path: string): FolderRead;
  readStandardInput(): Uint8Array;
  /** The name of this machine. */
  hostName(): string;
}

export type FileRead =
  | {
      readonly kind: 'read';
      readonly bytes: Uint8Array;
      /** Device and inode: equal for the same file under different names. */
      readonly identity: string;
    }
  | Failed;

export type FolderRead = { readonly kind: 'read'; readonly entries: readonly FolderEntry[] } | Failed;

export interface FolderEntry {
  readonly name: string;
  /** After following symbolic links; `lost` is a dangling link, or cannot be examined. */
  readonly kind: 'file' | 'other' | 'lost';
}

export interface Failed {
  readonly kind: 'failed';
  /** Whether the path does not exist. */
  readonly missing: boolean;
  readonly reason: string;
}
