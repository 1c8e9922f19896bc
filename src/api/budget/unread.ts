/**
 * Bytes of responses that clients have not read yet, by e-shop: they take up memory of the process until sent.
 */

/** Reports how many bytes of a response have not been sent. Node's `ServerResponse` does, pipelined ones included. */
export interface PendingResponse {
  readonly writableLength: number;
}

export function createUnread() {
  const responses = new Map<number, Set<PendingResponse>>();
  return {
    /** Counts the unsent bytes of this response. @returns ends the count; may be called repeatedly */
    watch(eshopId: number, response: PendingResponse): () => void {
      const watched = responses.get(eshopId) ?? new Set();
      responses.set(eshopId, watched.add(response));
      return () => {
        watched.delete(response);
        if (watched.size === 0 && responses.get(eshopId) === watched) responses.delete(eshopId);
      };
    },
    /** In bytes. */
    of(eshopId: number): number {
      let bytes = 0;
      for (const { writableLength } of responses.get(eshopId) ?? []) bytes += writableLength;
      return bytes;
    },
  };
}
