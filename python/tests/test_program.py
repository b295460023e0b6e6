"""The same bits, scores and errors as the program."""

import json
import subprocess

import numpy as np
import pytest

from gibbstream import HDP, LDA, TextCorpus, evaluate


@pytest.fixture
def run(program, tmp_path):
    def run(*arguments):
        done = subprocess.run(
            [program, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def uci(counts, held_out, tmp_path):
    """The same counts as files."""
    for name, X in (("train", counts), ("test", held_out)):
        folder = tmp_path / name
        folder.mkdir()
        words = [f"w{word:02}" for word in range(X.shape[1])]
        (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in words))
        entries = X.tocoo()
        order = np.lexsort((entries.col, entries.row))
        lines = [f"{entries.row[i] + 1} {entries.col[i] + 1} {entries.data[i]}" for i in order]
        (folder / "docword.txt").write_text(f"{X.shape[0]}\n{X.shape[1]}\n{X.nnz}\n" + "\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "parameters"),
    [
        ("", {}),
        ("--seed 3 --batch 37", {"random_state": 3, "batch": 37}),
        ("--passes 3", {"passes": 3}),
        ("--batch 5..40 --passes 2", {"batch": "5..40", "passes": 2}),
        ("--method g-oem++", {"method": "g-oem++"}),
        ("--method olda", {"method": "olda"}),
        ("--method batch-gibbs --sweeps 10", {"method": "batch-gibbs", "sweeps": 10}),
        ("--method v-oem --averaging tail=2", {"method": "v-oem", "averaging": "tail=2"}),
        (
            "--batch 10 --sweeps 5 --kappa 0.7 --offset 20 --smoothing 0.02",
            {"batch": 10, "sweeps": 5, "kappa": 0.7, "offset": 20, "smoothing": 0.02},
        ),
    ],
)
def test_the_same_model(flags, parameters, run, uci, counts):
    report = json.loads(run("train", "train", "--topics", 4, "--json", *flags.split()))
    lda = LDA(4, **({"random_state": 0} | parameters)).fit(counts)
    assert lda.model_hash_ == report["model_hash"]
    assert (lda.n_updates_, lda.n_tokens_) == (report["updates"], report["tokens"])
    assert lda.n_documents_ == report["documents"] * report["passes"]


@pytest.mark.parametrize(
    ("flags", "parameters"),
    [
        ("", {}),
        ("--seed 3 --batch 37", {"random_state": 3, "batch": 37}),
        ("--method vargibbs", {"method": "vargibbs"}),
        ("--passes 2 --pi literal", {"passes": 2, "pi": "literal"}),
        (
            "--initial-topics 5 --max-topics 6 --doc-concentration 2 --top-concentration 4 --min-remainder 0.05",
            {
                "initial_topics": 5,
                "max_topics": 6,
                "doc_concentration": 2,
                "top_concentration": 4,
                "min_remainder": 0.05,
            },
        ),
        (
            "--sweeps 5 --kappa 0.6 --offset 20 --topic-prior 0.05 --window half --statistic counts",
            {"sweeps": 5, "kappa": 0.6, "offset": 20, "topic_prior": 0.05, "window": "half", "statistic": "counts"},
        ),
    ],
)
def test_the_same_open_number_of_topics(flags, parameters, run, uci, counts):
    report = json.loads(run("train", "train", "--model", "hdp", "--json", *flags.split()))
    hdp = HDP(**({"random_state": 0} | parameters)).fit(counts)
    assert hdp.model_hash_ == report["model_hash"]
    assert (hdp.n_components_, hdp.topics_used_, hdp.topics_created_, hdp.n_tokens_) == tuple(
        report[name] for name in ("topics", "topics_used", "topics_created", "tokens")
    )


def test_an_open_number_of_topics_goes_from_one_to_the_other_and_back(run, uci, counts, held_out):
    run("train", "train", "--model", "hdp", "--batch", 50, "--out", "program.gbs")
    hdp = HDP.load(uci / "program.gbs", transform_sweeps=100)
    lines = run("infer", "program.gbs", "test", "--digits", 17).splitlines()
    inferred = np.array([json.loads(line)["theta"] for line in lines])[:, :-1]
    np.testing.assert_allclose(hdp.transform(held_out), inferred / inferred.sum(axis=1, keepdims=True), rtol=1e-12)
    flags = ["--json", "--particles", "20", "--elbo", "--completion"]
    expected = json.loads(run("evaluate", "program.gbs", "test", *flags))
    expected.pop("schema")
    found = evaluate(hdp, held_out, elbo=True, completion=True)
    assert found == {name: expected[name] for name in found}
    report = json.loads(run("train", "test", "--continue", "program.gbs", "--json"))
    assert hdp.partial_fit(held_out).model_hash_ == report["model_hash"]
    hdp.save(uci / "python.gbs")
    report = json.loads(run("train", "train", "--continue", "python.gbs", "--json"))
    assert hdp.partial_fit(counts).model_hash_ == report["model_hash"]


def test_models_go_from_one_to_the_other_and_back(run, uci, counts, held_out):
    run("train", "train", "--topics", 3, "--out", "program.gbs")
    lda = LDA.load(uci / "program.gbs").partial_fit(held_out)
    report = json.loads(run("train", "test", "--continue", "program.gbs", "--json"))
    assert lda.model_hash_ == report["model_hash"]
    assert lda.vocabulary_[7] == "w07"
    lda.save(uci / "python.gbs")
    report = json.loads(run("train", "train", "--continue", "python.gbs", "--json"))
    assert lda.partial_fit(counts).model_hash_ == report["model_hash"]


def test_models_of_another_kind_are_refused(run, uci):
    run("train", "train", "--model", "hdp", "--out", "hdp.gbs")
    with pytest.raises(ValueError, match="model: it is of kind hdp, not lda"):
        LDA.load(uci / "hdp.gbs")


def test_the_same_mixtures_scores_and_words(run, uci, counts, held_out):
    lda = LDA(4, batch=20, random_state=0, transform_sweeps=100).fit(counts)
    lda.set_vocabulary([f"w{word:02}" for word in range(counts.shape[1])]).save(uci / "model.gbs")
    lines = run("infer", "model.gbs", "test", "--digits", 17).splitlines()
    np.testing.assert_array_equal(lda.transform(held_out), [json.loads(line)["theta"] for line in lines])
    scores = ["--json", "--particles", "20", "--elbo", "--completion"]
    expected = json.loads(run("evaluate", "model.gbs", "test", *scores))
    expected.pop("schema")
    assert evaluate(lda, held_out, elbo=True, completion=True) == expected
    assert lda.score(held_out) == expected["log_likelihood_per_token"]
    assert lda.perplexity(held_out) == pytest.approx(expected["perplexity"], rel=1e-12)
    assert -lda.log_likelihood(held_out).mean() == pytest.approx(expected["log_perplexity_per_document"], rel=1e-12)
    flags = ["--json", "--particles", "20"]
    left_to_right = json.loads(run("evaluate", "model.gbs", "test", *flags, "--estimator", "left-to-right"))
    found = lda.log_likelihood(held_out, estimator="left-to-right")
    assert -found.mean() == pytest.approx(left_to_right["log_perplexity_per_document"], rel=1e-12)
    topics = json.loads(run("topics", "model.gbs", "--words", 5, "--lambda", 0.5, "--json"))["topics"]
    assert lda.top_words(5, relevance=0.5) == [[word["word"] for word in topic["words"]] for topic in topics]


@pytest.mark.parametrize(
    ("flags", "parameters"),
    [("", {}), ("--min-df 2 --ngrams 2 --stop-words none", {"min_df": 2, "ngrams": 2, "stop_words": "none"})],
)
def test_text_is_cut_the_same_way(flags, parameters, run, tmp_path):
    texts = ["A cat and a dog.", "The dog didn't bark, the CAT did.", "", "Naïve 👍 cats and a dog"] * 30
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in texts))
    report = json.loads(
        run("train", "texts.txt", "--format", "text", "--topics", 2, "--batch", 20, "--json", *flags.split())
    )
    lda = LDA(2, batch=20, random_state=0).fit(TextCorpus(texts, **parameters))
    assert lda.model_hash_ == report["model_hash"]


def test_errors_have_the_same_text_after_the_name(program, uci, counts):
    done = subprocess.run(
        [program, "train", "train", "--topics", "0", "--json"], cwd=uci, capture_output=True, text=True, check=False
    )
    with pytest.raises(ValueError, match=r"^n_components: ") as raised:
        LDA(0).fit(counts)
    assert str(raised.value).replace("n_components", "--topics") in done.stderr
