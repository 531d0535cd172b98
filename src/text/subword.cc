#include "text/subword.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <string>
#include <unordered_map>
#include <vector>

struct subword {
    sentencepiece::SentencePieceProcessor processor;
};

namespace {

using Settings = std::unordered_map<std::string, std::string>;

constexpr const char *only_fatal_messages = "3";

/* The lines of a text, for the trainer. */
class Lines : public sentencepiece::SentenceIterator {
  public:
    Lines(const char *text, size_t n) : at(text), end(text + n) {
        Next();
    }
    bool done() const override {
        return finished;
    }
    void Next() override {
        finished = at == end;
        if (finished)
            return;
        const char *lf = static_cast<const char *>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
        const char *stop = lf ? lf : end;
        line.assign(at, stop);
        at = lf ? lf + 1 : end;
    }
    const std::string &value() const override {
        return line;
    }
    sentencepiece::util::Status status() const override {
        return sentencepiece::util::Status();
    }

  private:
    const char *at, *end;
    std::string line;
    bool finished = false;
};

/* Runs body, and turns what it throws into a status. */
template <typename Body> sa_status guarded(sa_error *error, Body body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return sa_fail_memory(error, 0);
    } catch (const std::exception &e) {
        return sa_fail(error, SA_DATA, "SentencePiece: %s", e.what());
    } catch (...) {
        return sa_fail(error, SA_DATA, "SentencePiece failed for a reason it does not tell");
    }
}

Settings settings(const vocab_options &options, size_t bytes) {
    Settings s;
    s["minloglevel"] = only_fatal_messages;
    s["model_type"] = options.type == SA_VOCAB_BPE ? "bpe" : "unigram";
    s["vocab_size"] = std::to_string(options.size);
    s["hard_vocab_limit"] = "false";
    s["normalization_rule_name"] = options.normalization;
    s["remove_extra_whitespaces"] = "true";
    s["eos_id"] = std::to_string(VOCAB_EOS);
    s["unk_id"] = std::to_string(VOCAB_UNK);
    s["bos_id"] = "-1";
    s["pad_id"] = "-1";
    if (options.protect) {
        std::string symbols;
        for (int kind = 0; kind < PROTECT_KINDS; kind++)
            symbols += (kind ? "," : "") + std::string(protect_symbol(static_cast<protect_kind>(kind)));
        s["user_defined_symbols"] = symbols;
    }
    s["num_threads"] = "1";                  /* sums in another order give other bytes */
    s["max_sentence_length"] = "1073741824"; /* the most that it takes; longer lines would be left out */
    if (bytes > (1u << 30))
        s["train_extremely_large_corpus"] = "true"; /* without it, 2^31 characters end the program */
    return s;
}

/* SentencePiece keeps tables of Unicode for ever, which it makes when it first learns, in many small pieces: among
 * those of a large text they would hold on to most of its memory. */
void make_tables() {
    static const char text[] = "ab ab ab\n";
    vocab_options options = {};
    options.type = SA_VOCAB_UNIGRAM;
    options.size = 8;
    options.normalization = "identity";
    Lines lines(text, sizeof text - 1);
    std::string bytes;
    sentencepiece::SentencePieceTrainer::Train(settings(options, 0), &lines, &bytes).IgnoreError();
}

} // namespace

sa_status subword_train(strbuf *model, const vocab_options *options, const char *text, size_t n, sa_error *error) {
    return guarded(error, [&] {
        make_tables();
        Settings s = settings(*options, n);
        sentencepiece::util::Status status;
        for (const char *coverage : {"1.0", "0.9995", "0.98"}) {
            s["character_coverage"] = coverage;
            std::string bytes;
            Lines lines(text, n);
            status = sentencepiece::SentencePieceTrainer::Train(s, &lines, &bytes);
            if (status.ok()) {
                strbuf_append(model, bytes.data(), bytes.size());
                return model->failed ? sa_fail_memory(error, bytes.size()) : SA_OK;
            }
        }
        if (std::strstr(status.error_message(), "required_chars"))
            return sa_fail(
                error, SA_USAGE,
                "a vocabulary of %d symbols cannot hold the characters of the text; give it more symbols",
                options->size);
        return sa_fail(error, SA_DATA, "no vocabulary could be learnt from the text; SentencePiece says: %s",
                       status.error_message());
    });
}

sa_status subword_open(subword **out, const char *bytes, size_t n, sa_error *error) {
    *out = nullptr;
    return guarded(error, [&] {
        auto s = std::make_unique<subword>();
        sentencepiece::util::Status status = s->processor.LoadFromSerializedProto(absl::string_view(bytes, n));
        if (!status.ok())
            return sa_fail(error, SA_FORMAT, "damaged SentencePiece model: %s", status.error_message());
        *out = s.release();
        return SA_OK;
    });
}

void subword_free(subword *s) {
    delete s;
}

int subword_size(const subword *s) {
    return s->processor.GetPieceSize();
}

const char *subword_piece(const subword *s, int id) {
    return s->processor.IdToPiece(id).c_str();
}

float subword_score(const subword *s, int id) {
    return s->processor.GetScore(id);
}

int subword_find(const subword *s, const char *piece, size_t length) {
    return s->processor.PieceToId(absl::string_view(piece, length));
}

sa_status subword_encode(const subword *s, const char *text, size_t n, id_list *ids, sa_error *error) {
    return guarded(error, [&] {
        std::vector<int> found;
        sentencepiece::util::Status status = s->processor.Encode(absl::string_view(text, n), &found);
        if (!status.ok())
            return sa_fail(error, SA_DATA, "SentencePiece: %s", status.error_message());
        for (int id : found)
            if (!id_list_push(ids, id))
                return sa_fail_memory(error, found.size() * sizeof id);
        return SA_OK;
    });
}

sa_status subword_pieces(const subword *s, const char *text, size_t n, strbuf *out, sa_error *error) {
    return guarded(error, [&] {
        std::vector<std::string> found;
        sentencepiece::util::Status status = s->processor.Encode(absl::string_view(text, n), &found);
        if (!status.ok())
            return sa_fail(error, SA_DATA, "SentencePiece: %s", status.error_message());
        for (const std::string &piece : found)
            strbuf_append(out, piece.c_str(), piece.size() + 1);
        return out->failed ? sa_fail_memory(error, out->length) : SA_OK;
    });
}

sa_status subword_decode(const subword *s, const int *ids, size_t n, const bool *holes, const char *hole,
                         strbuf *out, sa_error *error) {
    return guarded(error, [&] {
        std::string text;
        std::vector<std::string> pieces;
        for (size_t i = 0; holes && i < n; i++)
            pieces.push_back(holes[i] ? hole : s->processor.IdToPiece(ids[i]));
        sentencepiece::util::Status status =
            holes ? s->processor.Decode(pieces, &text) : s->processor.Decode(std::vector<int>(ids, ids + n), &text);
        if (!status.ok())
            return sa_fail(error, SA_DATA, "SentencePiece: %s", status.error_message());
        strbuf_append(out, text.data(), text.size());
        return out->failed ? sa_fail_memory(error, text.size()) : SA_OK;
    });
}
