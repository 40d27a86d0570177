"""A bundle has a trial's record, and never its result beside it: that would mark the trial as finished."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.unit.run.test_join import contents, results, specs
from tidegate.history.run_folder import RunFolder
from tidegate.run.bundle import Bundle, sealed_archive, write_results


def test_a_record_is_sent_without_the_result(tmp_path: Path) -> None:
    (spec, *_), store = specs(1), RunFolder(tmp_path / "ran")
    store.trial_folder(spec).mkdir(parents=True)
    (store.trial_folder(spec) / "prompt.txt").write_text("do it")
    store.finish_trial(results(1)[0])
    write_results(tmp_path / "bundle", contents(0), results(1)[:1], {spec.side: store})
    with zipfile.ZipFile(tmp_path / "bundle") as archive:
        assert archive.namelist() == ["bundle.json", "results.jsonl", f"{spec.id}/prompt.txt"]
    (store.trial_folder(spec) / "result.json").unlink()


def test_a_result_in_a_bundle_is_not_extracted(tmp_path: Path) -> None:
    (spec, *_), store = specs(1), RunFolder(tmp_path / "here")
    with sealed_archive(tmp_path / "bundle") as archive:
        archive.writestr("bundle.json", contents(0).model_dump_json())
        for name in ("prompt.txt", "result.json", "results/result.json"):
            archive.writestr(f"{spec.id}/{name}", name)
    Bundle(tmp_path / "bundle").extract(spec, store)
    kept = store.trial_folder(spec)
    names = sorted(path.relative_to(kept).as_posix() for path in kept.rglob("*.*"))
    (kept / "results/result.json").unlink()
    assert names == ["prompt.txt", "results/result.json"]
