/**
 * The files of ConfigMaps where a container has them, for Corefiles that are read without their container.
 */
import { basename, dirname } from 'node:path';
import { type CorefileFiles, DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';

/**
 * Mounted files, before those of this machine.
 *
 * @param texts by path
 * @param folders that exist, though they may be empty
 */
export function mountedFiles(texts: ReadonlyMap<string, string>, folders: readonly string[]): CorefileFiles {
  return {
    read: (path) => texts.get(path) ?? DISK_FILES.read(path),
    findKind: (path) => {
      if (texts.has(path)) return 'file';
      return folders.includes(path) ? 'folder' : DISK_FILES.findKind(path);
    },
    list: (folder) =>
      folders.includes(folder)
        ? [...texts.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path))
        : DISK_FILES.list(folder),
  };
}
