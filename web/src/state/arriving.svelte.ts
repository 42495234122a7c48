/** What a promise has brought so far. */
export class Arriving<Value> {
  value = $state.raw<Value>();
  error = $state.raw<unknown>();

  constructor(coming: Promise<Value>) {
    coming.then(
      (value) => {
        this.value = value;
      },
      (error: unknown) => {
        this.error = error;
      },
    );
  }
}
