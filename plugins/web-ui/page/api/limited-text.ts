// The text of a reply that may be of any length, such as a file: no more of it is loaded than somebody wants.

/** Undefined if it has more bytes than that; the rest is not loaded. */
export async function limitedText(response: Response, most: number): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > most) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
