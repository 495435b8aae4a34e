// A text of the page as a file of the reader.

/** The browser reads it after the click. */
const READ_MS = 60_000;

export function saveFile(name: string, text: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), READ_MS);
}
