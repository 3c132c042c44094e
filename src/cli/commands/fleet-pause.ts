/** `autodev fleet pause`: of one run, or of all. */
import { pauseOrResume } from "../pausing.ts";

export const run = pauseOrResume("pause");
