/**
 * Where the files of a configuration come from. Callers provide it, so that no reader of options accesses a disk itself.
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
      /** Equal for equal files, however they are named: device and inode. */
      readonly identity: string;
    }
  | Failed;

export type FolderRead = { readonly kind: 'read'; readonly entries: readonly FolderEntry[] } | Failed;

export interface FolderEntry {
  readonly name: string;
  /** Behind symbolic links. A `lost` one is a dangling link, or may not be examined. */
  readonly kind: 'file' | 'other' | 'lost';
}

export interface Failed {
  readonly kind: 'failed';
  /** Whether there is nothing of that name. */
  readonly missing: boolean;
  readonly reason: string;
}
