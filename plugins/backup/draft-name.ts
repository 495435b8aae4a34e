// Names of what a backup that was killed leaves in its folder: drafts of copies, and folders of targets.
const DRAFT = /^\.weir_[\d_-]+\.\d+-[\w-]+\.part(?:-journal)?$|^\.weir-copy-[A-Za-z0-9]{6}$/;

export const isDraftName = (name: string): boolean => DRAFT.test(name);
