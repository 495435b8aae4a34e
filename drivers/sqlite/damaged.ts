// A file that SQLite cannot read: what an admin does then.

const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)$/;

/** Adds the way out to an error of a damaged file. */
export function withWayOut(error: unknown): unknown {
  const { code, message, parent } = error as {
    readonly code?: string;
    readonly message: string;
    readonly parent?: { readonly code?: string };
  };
  if (!DAMAGED.test(code ?? parent?.code ?? '')) return error;
  return new Error(
    `${message}; the file weir.sqlite is damaged: stop the panel, and restore the newest backup with \`weir restore <file>\``,
    { cause: error },
  );
}
